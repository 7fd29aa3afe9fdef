//! The deformed mesh, by the CPU.

use super::{Failure, Moment};
use throng::character::{Affine, Character};
use throng::pose::{
    DualQuat, DualQuatStretch, Mat3x4, Method, PaletteEntry, PaletteFit, PaletteFormat, PaletteRef,
    PosedVertices, QuatOffset, WriteOnly, check_method, model_pose, palette, skin,
    turned_triangles,
};

/// Every primitive's vertices, in the file's world space.
pub(super) fn on_cpu(
    model: &Character,
    moment: Moment,
    method: Method,
) -> Result<Vec<PosedVertices>, Failure> {
    let format = check_method(model, method)?;
    let (pose, weights) = posed(model, moment)?;
    let (pose, weights) = (&*pose, &*weights);
    match format {
        PaletteFormat::Mat3x4 => by::<Mat3x4>(model, pose, weights),
        PaletteFormat::DualQuat => by::<DualQuat>(model, pose, weights),
        PaletteFormat::DualQuatStretch => by::<DualQuatStretch>(model, pose, weights),
        PaletteFormat::QuatOffset => by::<QuatOffset>(model, pose, weights),
    }
}

/// The model pose and the morph weights, of the packed clip: what a crowd shows.
fn posed(model: &Character, moment: Moment) -> Result<(Vec<Affine>, Vec<f32>), Failure> {
    let joints = model.skeleton().joints().iter();
    let mut local: Vec<_> = joints.map(|joint| joint.rest).collect();
    let weights = model.morph_weights().iter();
    let mut weights: Vec<f32> = weights.map(|weight| weight.rest).collect();
    if let Some((clip, time_s)) = moment {
        let clip = &model.clips()[clip];
        clip.sample(time_s, &mut local)?;
        clip.sample_weights(time_s, |index, value| weights[index] = value);
    }
    let mut pose = vec![Affine::IDENTITY; local.len()];
    model_pose(model.skeleton(), &local, &mut pose)?;
    Ok((pose, weights))
}

fn by<E: PaletteEntry>(
    model: &Character,
    pose: &[Affine],
    weights: &[f32],
) -> Result<Vec<PosedVertices>, Failure> {
    let mut entries = vec![E::project(&Affine::IDENTITY); model.palette().len()];
    palette::<E>(
        model,
        pose,
        PaletteFit::Projected,
        WriteOnly::over(&mut entries),
    )?;
    let primitives = model.primitives().iter();
    let posed = primitives.map(|primitive| {
        let mut out = PosedVertices::default();
        skin(
            model,
            primitive,
            PaletteRef::from(&*entries),
            weights,
            &mut out,
        )?;
        Ok(out)
    });
    posed.collect()
}

/// For every primitive, which triangles the pose has turned over: they are wound the other way.
pub(super) fn turned(
    model: &Character,
    moment: Moment,
    method: Method,
) -> Result<Vec<Vec<bool>>, Failure> {
    let parts = model.primitives();
    if method != Method::Linear {
        // The other methods hold no mirror.
        let none = parts.iter().map(|part| vec![false; part.indices.len() / 3]);
        return Ok(none.collect());
    }
    let mut palette = vec![Mat3x4::IDENTITY; model.palette().len()];
    let (pose, _) = posed(model, moment)?;
    let out = WriteOnly::over(&mut palette);
    throng::pose::palette(model, &pose, PaletteFit::Projected, out)?;
    let turned = |part| Ok(turned_triangles(model, part, PaletteRef::from(&*palette))?);
    parts.iter().map(turned).collect()
}
