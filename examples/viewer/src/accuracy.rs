//! The distance between drawn vertices and a reference: skinning by matrices, in plain code.

use throng::character::Character;
use throng::clip::{Clip, ClipOptions};
use throng::glam::{Affine3A, Vec3};
use throng::palette::{
    DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, PaletteFormat, QuatOffset, SkinningMethod,
    WriteOnly,
};
use throng::skeleton::{Joint, Transform};
use throng::skin::PosedVertices;
use throng::{Id, SkinningStage};
use throng_standalone::Context;

use super::Result;
use super::figures::Deformed;
use super::playback::{Base, Layer};
use super::posed_by::{self, Side};
use super::scene::Scene;
use super::settings::Settings;

/// Largest distances of a vertex, in millimetres, at the present pose of the first instance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Accuracy {
    /// Between the skinning method and linear blending of exact matrices.
    pub(crate) method_mm: f64,
    /// Between the vertices that the device has and the same method in plain code. `None` if the
    /// vertex shader skins: its vertices cannot be read.
    pub(crate) device_mm: Option<f64>,
    /// The processor that poses it. `None` without an instance.
    ///
    /// It has the distance between the GPU's vertices and the CPU's.
    pub(crate) side: Option<Side>,
    /// Between the packed clip and the curves of the file. `None` if not just one clip plays.
    pub(crate) clip_mm: Option<f64>,
}

/// The state that the accuracy of a paused picture depends on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    pub(crate) method: SkinningMethod,
    pub(crate) stage: SkinningStage,
    pub(crate) base: Base,
    pub(crate) layers: Vec<Layer>,
    pub(crate) morphs: Vec<Option<f32>>,
    pub(crate) expressions: Vec<f32>,
    pub(crate) springs: bool,
    pub(crate) time_s: f64,
}

/// Measures the pose of the last frame. The device is idle afterwards.
pub(crate) fn measure(
    context: &mut Context,
    scene: &Scene,
    (character, settings): (&Character, &Settings),
    (clip, time_s, now_s): (Option<Id<Clip>>, f64, f64),
) -> Result<Accuracy> {
    let Some(id) = scene.first() else {
        return Ok(Accuracy::default());
    };
    let crowd = scene.crowd();
    let joints = (0..character.skeleton().len() as u16).map(Id::<Joint>::new);
    let model: Vec<Affine3A> = joints
        .map(|joint| {
            crowd
                .instance(id)
                .and_then(|it| it.joint_model(joint, now_s))
        })
        .collect::<throng::Result<_>>()?;
    let mut weights = vec![0.0; character.morph_weights().len()];
    crowd.instance(id)?.morph_weights(&mut weights)?;
    let exact = positions::<Mat3x4>(character, &model, &weights)?;
    let drawn = posed(character, &model, &weights, settings.method)?;
    let side = (character, settings.method);
    let side = posed_by::measure(context, scene, side, (&model, &weights), now_s)?;
    let device_mm = match &scene.deformed {
        Some(deformed) => Some(furthest_mm(&drawn, &read(context, deformed)?)),
        None => None,
    };
    Ok(Accuracy {
        method_mm: furthest_mm(&exact, &drawn),
        device_mm,
        side,
        clip_mm: clip_error_mm(character, clip, time_s)?,
    })
}

/// The error of a packed clip at a time, over all vertices.
fn clip_error_mm(
    character: &Character,
    clip: Option<Id<Clip>>,
    time_s: f64,
) -> throng::Result<Option<f64>> {
    let both = clip.and_then(|clip| {
        let packed = character.clips().get(clip.index())?;
        let curves = character.curves().get(clip.index())?;
        (!packed.is_additive()).then_some((packed, curves))
    });
    let Some((packed, curves)) = both else {
        return Ok(None);
    };
    let rest: Vec<f32> = character.morph_weights().iter().map(|w| w.rest).collect();
    let pose = |local: &[Transform], weights: &[f32]| {
        let mut model = vec![Affine3A::IDENTITY; local.len()];
        character.skeleton().model_pose(local, &mut model)?;
        positions::<Mat3x4>(character, &model, weights)
    };
    let mut local = character.skeleton().rest_pose();
    let mut weights = rest.clone();
    packed.sample(time_s, &mut local)?;
    packed.sample_weights(time_s, |id, weight| weights[id.index()] = weight);
    let ours = pose(&local, &weights)?;
    let mut local = character.skeleton().rest_pose();
    let mut weights = rest;
    curves.sample(time_s, &mut local)?;
    curves.sample_weights(time_s, |id, weight| weights[id.index()] = weight);
    Ok(Some(furthest_mm(&ours, &pose(&local, &weights)?)))
}

/// The vertices of a pose by a skinning method.
pub(crate) fn posed(
    character: &Character,
    model: &[Affine3A],
    weights: &[f32],
    method: SkinningMethod,
) -> throng::Result<Vec<Vec3>> {
    match PaletteFormat::of(character, method)? {
        PaletteFormat::Mat3x4 => positions::<Mat3x4>(character, model, weights),
        PaletteFormat::DualQuat => positions::<DualQuat>(character, model, weights),
        PaletteFormat::DualQuatStretch => positions::<DualQuatStretch>(character, model, weights),
        PaletteFormat::QuatOffset => positions::<QuatOffset>(character, model, weights),
    }
}

/// The positions of all vertices in character space.
fn positions<E: PaletteEntry>(
    character: &Character,
    model: &[Affine3A],
    weights: &[f32],
) -> throng::Result<Vec<Vec3>> {
    let mut palette = vec![E::project(&Affine3A::IDENTITY); character.palette().len()];
    character.write_palette(model, WriteOnly::from(&mut palette))?;
    skinned(character, &palette, weights)
}

/// The positions of all vertices under a palette.
pub(crate) fn skinned<E: PaletteEntry>(
    character: &Character,
    palette: &[E],
    weights: &[f32],
) -> throng::Result<Vec<Vec3>> {
    let mut all = Vec::with_capacity(character.vertex_count());
    let mut posed = PosedVertices::default();
    for primitive in character.primitives() {
        character.skin_primitive(primitive, palette, weights, &mut posed)?;
        all.extend_from_slice(&posed.positions);
    }
    Ok(all)
}

/// Reads the positions that the device has.
fn read(context: &mut Context, deformed: &Deformed) -> Result<Vec<Vec3>> {
    let Deformed {
        buffer,
        offset,
        size,
        ref positions,
    } = *deformed;
    context.wait_idle()?;
    // SAFETY: the device is idle, the range belongs to a living instance, and the buffer allows
    // copying from it.
    let bytes = unsafe { context.read_buffer(buffer, offset, size)? };
    let number = |bytes: &[u8]| f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let vertex = |bytes: &[u8]| Vec3::new(number(bytes), number(&bytes[4..]), number(&bytes[8..]));
    let mut all = Vec::new();
    for (first, count) in positions {
        let start = (first - offset) as usize;
        let bytes = &bytes[start..start + *count as usize * 12];
        all.extend(bytes.chunks_exact(12).map(vertex));
    }
    Ok(all)
}

/// The largest distance in millimetres: infinite if one is not a number, or the counts differ.
pub(crate) fn furthest_mm(a: &[Vec3], b: &[Vec3]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let distances = a.iter().zip(b).map(|(a, b)| f64::from(a.distance(*b)));
    distances.fold(0.0, |most, distance| {
        if distance.is_nan() {
            f64::INFINITY
        } else {
            distance.max(most)
        }
    }) * 1e3
}

/// The error bound of a packing in metres. The default follows the size of the character.
pub(crate) fn bound_m(options: &ClipOptions, character: &Character) -> f32 {
    let size_m = character.rest_bounds().size().max_element();
    options.error_m.unwrap_or(1e-4 * size_m / 1.8)
}
