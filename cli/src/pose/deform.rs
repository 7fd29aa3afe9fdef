//! Deforms the mesh on the CPU.

use crate::failure::Failure;
use crate::moment::Moment;
use crate::words::title;
use throng::Id;
use throng::animator::{ActorId, Animator, Play};
use throng::character::Character;
use throng::glam::Affine3A;
use throng::motion::LoopMode;
use throng::palette::{
    DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, PaletteFormat, QuatOffset, SkinningMethod,
    WriteOnly,
};
use throng::skin::PosedVertices;
use throng_export::{ExportOptions, posed_glb};

/// A posed mesh: for each primitive its vertices, and which of its triangles the pose flips.
pub(super) struct Mesh<'a> {
    pub(super) model: &'a Character,
    pub(super) posed: &'a [PosedVertices],
    pub(super) flipped: &'a [Vec<bool>],
}

impl Mesh<'_> {
    /// Fails if the pose is too large for 32-bit numbers.
    pub(super) fn expect_finite(&self) -> Result<(), Failure> {
        for (part, posed) in self.model.primitives().iter().zip(self.posed) {
            let mut vectors = posed.positions.iter().chain(&posed.normals);
            if !vectors.all(|vector| vector.is_finite()) {
                return Err(Failure::File(format!(
                    "{}: {}: the pose is too large for 32-bit numbers",
                    self.model.name(),
                    title(&part.name)
                )));
            }
        }
        Ok(())
    }

    /// The mesh as binary glTF.
    pub(super) fn glb(&self) -> Result<Vec<u8>, Failure> {
        let parts = 0..self.model.primitives().len();
        let triangles = parts.map(|part| self.triangles(part).collect());
        let triangles: Vec<Vec<[u32; 3]>> = triangles.collect();
        if triangles.iter().all(Vec::is_empty) {
            let words = format!("{}: there are no triangles to write", self.model.name());
            return Err(Failure::File(words));
        }
        let glb = posed_glb(
            self.model,
            self.posed,
            &triangles,
            &ExportOptions::default(),
        );
        glb.map_err(|error| Failure::File(format!("{}: {error}", self.model.name())))
    }

    /// The triangles of a primitive, counter-clockwise from their front in this pose.
    pub(super) fn triangles(&self, primitive: usize) -> impl Iterator<Item = [u32; 3]> {
        let triangles = self.model.primitives()[primitive]
            .indices
            .as_chunks::<3>()
            .0;
        let all = triangles.iter().zip(&self.flipped[primitive]);
        all.map(|([a, b, c], flipped)| if *flipped { [*a, *c, *b] } else { [*a, *b, *c] })
    }
}

/// A play that holds a model at a moment: the clip does not advance.
pub(super) fn play(moment: Option<Moment>) -> Play<'static> {
    moment.map_or(Play::REST, |Moment { clip, time_s }| Play {
        offset_s: time_s,
        speed: 0.0,
        loop_mode: LoopMode::Once,
        ..Play::new(Id::new(clip as u16))
    })
}

/// The vertices of every primitive, in the file's world space.
pub(super) fn on_cpu(
    model: &Character,
    moment: Option<Moment>,
    method: SkinningMethod,
) -> Result<Vec<PosedVertices>, Failure> {
    match PaletteFormat::of(model, method)? {
        PaletteFormat::Mat3x4 => by::<Mat3x4>(model, moment),
        PaletteFormat::DualQuat => by::<DualQuat>(model, moment),
        PaletteFormat::DualQuatStretch => by::<DualQuatStretch>(model, moment),
        PaletteFormat::QuatOffset => by::<QuatOffset>(model, moment),
    }
}

fn actor(model: &Character, moment: Option<Moment>) -> Result<(Animator, ActorId), Failure> {
    let mut animator = Animator::new(model)?;
    let actor = animator.add(play(moment))?;
    Ok((animator, actor))
}

fn by<E: PaletteEntry>(
    model: &Character,
    moment: Option<Moment>,
) -> Result<Vec<PosedVertices>, Failure> {
    let (mut animator, actor) = actor(model, moment)?;
    let mut entries = vec![E::project(&Affine3A::IDENTITY); model.palette().len()];
    animator.palettes(&[actor], WriteOnly::from(&mut entries))?;
    let mut weights = vec![0.0; model.morph_weights().len()];
    animator.actor(actor)?.morph_weights(&mut weights)?;
    let primitives = model.primitives().iter();
    let posed = primitives.map(|primitive| {
        let mut out = PosedVertices::default();
        model.skin_primitive(primitive, &entries, &weights, &mut out)?;
        Ok(out)
    });
    posed.collect()
}

/// For every primitive, the triangles that the pose flips, which reverses their winding.
pub(super) fn flipped(
    model: &Character,
    moment: Option<Moment>,
    method: SkinningMethod,
) -> Result<Vec<Vec<bool>>, Failure> {
    let parts = model.primitives();
    if method != SkinningMethod::Linear {
        // The other methods cannot represent flipped joints.
        let none = parts.iter().map(|part| vec![false; part.indices.len() / 3]);
        return Ok(none.collect());
    }
    let mut palette = vec![Mat3x4::IDENTITY; model.palette().len()];
    let (mut animator, actor) = actor(model, moment)?;
    animator.palettes(&[actor], WriteOnly::from(&mut palette))?;
    let flipped = |part| Ok(model.flipped_triangles(part, &palette)?);
    parts.iter().map(flipped).collect()
}
