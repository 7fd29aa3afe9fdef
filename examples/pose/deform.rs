//! The deformed mesh, by the CPU.

use super::{Failure, Moment};
use throng::character::{Affine, Character};
use throng::pose::{
    DualQuat, DualQuatStretch, Mat3x4, Method, PaletteEntry, PaletteFit, PaletteFormat, PaletteRef,
    PosedVertices, Poser, QuatOffset, WriteOnly, check_method, palette, skin, turned_triangles,
};

/// Every primitive's vertices, in the file's world space.
pub(super) fn on_cpu(
    model: &Character,
    moment: Moment,
    method: Method,
) -> Result<Vec<PosedVertices>, Failure> {
    let format = check_method(model, method)?;
    let mut poser = Poser::new();
    poser.pose(model, moment)?;
    let (pose, weights) = (poser.model(), poser.weights());
    match format {
        PaletteFormat::Mat3x4 => by::<Mat3x4>(model, pose, weights),
        PaletteFormat::DualQuat => by::<DualQuat>(model, pose, weights),
        PaletteFormat::DualQuatStretch => by::<DualQuatStretch>(model, pose, weights),
        PaletteFormat::QuatOffset => by::<QuatOffset>(model, pose, weights),
    }
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
    Poser::new().palette(model, moment, WriteOnly::over(&mut palette))?;
    let turned = |part| Ok(turned_triangles(model, part, PaletteRef::from(&*palette))?);
    parts.iter().map(turned).collect()
}
