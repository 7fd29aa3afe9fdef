//! The deformed mesh, by the CPU.

use super::{Failure, Moment};
use throng::character::{Affine, Character};
use throng::pose::{
    DualQuat, DualQuatStretch, Mat3x4, Method, PaletteEntry, PaletteRef, PosedVertices, Poser,
    QuatOffset, WriteOnly, check_method, palette_projected, skin,
};

/// Every primitive's vertices, in the file's world space.
pub(super) fn on_cpu(
    model: &Character,
    moment: Moment,
    method: Method,
) -> Result<Vec<PosedVertices>, Failure> {
    let plan = check_method(model, method)?;
    let mut poser = Poser::new();
    poser.pose(model, moment)?;
    let (pose, weights) = (poser.model(), poser.weights());
    match (plan.method, plan.stretch) {
        (Method::Linear, _) => by::<Mat3x4>(model, pose, weights),
        (Method::DualQuat, false) => by::<DualQuat>(model, pose, weights),
        (Method::DualQuat, true) => by::<DualQuatStretch>(model, pose, weights),
        (Method::QuatOffset, _) => by::<QuatOffset>(model, pose, weights),
    }
}

fn by<E: PaletteEntry>(
    model: &Character,
    pose: &[Affine],
    weights: &[f32],
) -> Result<Vec<PosedVertices>, Failure> {
    let mut palette = vec![E::project(&Affine::IDENTITY); model.palette().len()];
    palette_projected::<E>(model, pose, WriteOnly::over(&mut palette))?;
    let primitives = model.primitives().iter();
    let posed = primitives.map(|primitive| {
        let mut out = PosedVertices::default();
        skin(
            model,
            primitive,
            PaletteRef::from(&*palette),
            weights,
            &mut out,
        )?;
        Ok(out)
    });
    posed.collect()
}
