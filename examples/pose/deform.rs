//! Deforms the mesh on the CPU.

use super::{Failure, Moment};
use throng::animator::{ActorId, Animator, AnimatorDesc, Play};
use throng::character::Character;
use throng::ids::ClipId;
use throng::motion::LoopMode;
use throng::palette::{
    DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, PaletteFormat, PaletteRef, QuatOffset,
    SkinningMethod, WriteOnly,
};
use throng::skeleton::Affine;
use throng::skin::PosedVertices;

/// A play that holds a model at a moment: the clip does not advance.
pub(super) fn play(moment: Moment) -> Play<'static> {
    moment.map_or(Play::REST, |(clip, time_s)| Play {
        offset_s: time_s,
        speed: 0.0,
        loop_mode: LoopMode::Once,
        ..Play::new(ClipId(clip as u16))
    })
}

/// The vertices of every primitive, in the file's world space.
pub(super) fn on_cpu(
    model: &Character,
    moment: Moment,
    method: SkinningMethod,
) -> Result<Vec<PosedVertices>, Failure> {
    match PaletteFormat::of(model, method)? {
        PaletteFormat::Mat3x4 => by::<Mat3x4>(model, moment),
        PaletteFormat::DualQuat => by::<DualQuat>(model, moment),
        PaletteFormat::DualQuatStretch => by::<DualQuatStretch>(model, moment),
        PaletteFormat::QuatOffset => by::<QuatOffset>(model, moment),
    }
}

fn actor(model: &Character, moment: Moment) -> Result<(Animator, ActorId), Failure> {
    let mut animator = Animator::new(model, &AnimatorDesc::default())?;
    let actor = animator.add(play(moment))?;
    Ok((animator, actor))
}

fn by<E: PaletteEntry>(model: &Character, moment: Moment) -> Result<Vec<PosedVertices>, Failure> {
    let (mut animator, actor) = actor(model, moment)?;
    let mut entries = vec![E::project(&Affine::IDENTITY); model.palette().len()];
    animator.palettes(&[actor], WriteOnly::over(&mut entries))?;
    let mut weights = vec![0.0; model.morph_weights().len()];
    animator.morph_weights(actor, &mut weights)?;
    let primitives = model.primitives().iter();
    let posed = primitives.map(|primitive| {
        let mut out = PosedVertices::default();
        let palette = PaletteRef::from(&*entries);
        model.skin_primitive(primitive, palette, &weights, &mut out)?;
        Ok(out)
    });
    posed.collect()
}

/// For every primitive, the triangles that the pose flips, which reverses their winding.
pub(super) fn turned(
    model: &Character,
    moment: Moment,
    method: SkinningMethod,
) -> Result<Vec<Vec<bool>>, Failure> {
    let parts = model.primitives();
    if method != SkinningMethod::Linear {
        // The other methods cannot represent mirrored joints.
        let none = parts.iter().map(|part| vec![false; part.indices.len() / 3]);
        return Ok(none.collect());
    }
    let mut palette = vec![Mat3x4::IDENTITY; model.palette().len()];
    let (mut animator, actor) = actor(model, moment)?;
    animator.palettes(&[actor], WriteOnly::over(&mut palette))?;
    let turned = |part| Ok(model.flipped_triangles(part, PaletteRef::from(&*palette))?);
    parts.iter().map(turned).collect()
}
