//! Every skinning method, compared with its definition in `f64` and with linear blending.
//!
//! The tests use every model in the folder that `THRONG_ASSETS` names, and the built-in character.

use crate::reference::compare::{Pairing, in_file_order, pairings};
use crate::reference::maths::{M4, V3, angle, distance, mul, normal, point};
use crate::reference::methods::{Entry, direction, dual_quat, linear, quat_offset};
use crate::reference::poser::Poser;
use crate::reference::scene::Scene;
use crate::reference::sweep::is_thorough;
use crate::reference::{assets, gltf, raw};
use std::collections::BTreeMap;
use throng::Error;
use throng::character::Character;
use throng::glam::{Vec3, Vec4};
use throng::import::RawCharacter;
use throng::mesh::Primitive;
use throng::palette::{
    DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, PaletteFormat, QuatOffset, SkinningMethod,
    WriteOnly,
};
use throng::skin::PosedVertices;

/// For positions, as a fraction of the model's size. Measured: 7.8e-7 (CesiumMan, `DualQuat`).
/// The poses that both start from differ by 4e-7.
const POSITION_BOUND: f64 = 4e-6;
/// For normals and tangents, in radians. Measured: 8.7e-7.
const NORMAL_BOUND: f64 = 4e-6;
/// The error that refuses a method, as a fraction of the model's size.
const DISPLACEMENT: f64 = 1e-4;

#[derive(Debug, Clone, Copy, Default)]
struct Worst {
    position: f64,
    direction: f64,
}

impl Worst {
    fn note(&mut self, position: f64, direction: f64) {
        // `max` alone would drop NaN.
        let max = |a: f64, b: f64| if b.is_nan() { f64::INFINITY } else { a.max(b) };
        self.position = max(self.position, position);
        self.direction = max(self.direction, direction);
    }
}

fn wide(v: Vec3) -> V3 {
    v.to_array().map(f64::from)
}

/// The primitive with a tangent on every vertex that has a normal.
fn with_tangents(primitive: &Primitive) -> Primitive {
    let mut primitive = primitive.clone();
    let tangent = |(at, normal): (usize, &Vec3)| {
        let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
        normal.any_orthonormal_vector().extend(sign)
    };
    primitive.tangents = primitive.normals.iter().enumerate().map(tangent).collect();
    primitive
}

/// A character and its scene, posed at many times.
struct Subject<'a> {
    name: &'a str,
    scene: &'a Scene,
    character: &'a Character,
    pairings: Vec<Pairing<'a>>,
    primitives: Vec<Primitive>,
    weights: Vec<f32>,
    size: f64,
}

type Blend = fn(&[(Entry, f64)]) -> M4;

impl<'a> Subject<'a> {
    fn new(name: &'a str, scene: &'a Scene, character: &'a Character) -> Self {
        Self {
            name,
            scene,
            character,
            pairings: pairings(scene, character),
            primitives: character.primitives().iter().map(with_tangents).collect(),
            weights: character.morph_weights().iter().map(|w| w.rest).collect(),
            size: scene.size(),
        }
    }

    fn moments(&self) -> Vec<Option<(usize, f64)>> {
        let mut all = vec![None];
        for (index, clip) in self.scene.clips.iter().enumerate() {
            all.extend(clip.times().into_iter().map(|time| Some((index, time))));
        }
        // If there are many clips, some times of each.
        let step = all.len().div_ceil(200);
        all.into_iter().step_by(step).collect()
    }

    /// The mesh under a palette of this format.
    fn posed<E: PaletteEntry>(&self, poser: &Poser) -> Vec<PosedVertices> {
        let mut memory = vec![E::zeroed(); self.character.palette().len()];
        let out = WriteOnly::from(&mut memory);
        self.character
            .write_palette::<E>(poser.model(), out)
            .unwrap();
        let skinned = |primitive: &Primitive| {
            let mut out = PosedVertices::default();
            self.character
                .skin_primitive(primitive, &memory, &self.weights, &mut out)
                .unwrap();
            out
        };
        self.primitives.iter().map(skinned).collect()
    }

    /// The largest errors of a format, compared with a definition.
    fn against_definition<E: PaletteEntry>(&self, blend: Blend) -> Worst {
        let mut worst = Worst::default();
        let mut poser = Poser::new();
        for moment in self.moments() {
            poser.pose(self.character, moment).unwrap();
            let globals = self.scene.globals(moment);
            let posed = self.posed::<E>(&poser);
            for (at, posed) in posed.iter().enumerate() {
                self.primitive(at, posed, &globals, blend, &mut worst);
            }
        }
        worst
    }

    fn primitive(
        &self,
        at: usize,
        posed: &PosedVertices,
        globals: &[M4],
        blend: Blend,
        worst: &mut Worst,
    ) {
        let (pairing, primitive) = (&self.pairings[at], &self.primitives[at]);
        let start = self.character.palette_range(primitive).start;
        let entries = pairing.entries.iter();
        let entries: BTreeMap<usize, Entry> = entries
            .map(|(entry, (node, inverse_bind))| {
                (*entry, Entry::new(mul(&globals[*node], inverse_bind)))
            })
            .collect();
        let mut base = PosedVertices::default();
        let rest = vec![Mat3x4::IDENTITY; self.character.palette().len()];
        self.character
            .skin_primitive(primitive, &rest, &self.weights, &mut base)
            .unwrap();
        for (_, vertex) in &pairing.vertices {
            let influences = primitive.influences(*vertex);
            let influences: Vec<(Entry, f64)> = influences
                .filter(|(_, weight)| *weight > 0.0)
                .map(|(joint, weight)| (entries[&(start + joint)], weight.into()))
                .collect();
            let matrix = blend(&influences);
            let expected = point(&matrix, wide(base.positions[*vertex]));
            let apart = distance(wide(posed.positions[*vertex]), expected);
            worst.note(apart / self.size, 0.0);
            if base.normals.is_empty() {
                continue;
            }
            if let Some(expected) = normal(&matrix, wide(base.normals[*vertex])) {
                worst.note(0.0, angle(wide(posed.normals[*vertex]), expected));
            }
            let (base, got): (Vec4, Vec4) = (base.tangents[*vertex], posed.tangents[*vertex]);
            if let Some(expected) = direction(&matrix, wide(base.truncate())) {
                worst.note(0.0, angle(wide(got.truncate()), expected));
            }
        }
    }

    /// The largest differences between a format and matrices, both computed by the crate.
    fn against_linear<E: PaletteEntry>(&self) -> Worst {
        let mut worst = Worst::default();
        let mut poser = Poser::new();
        for moment in self.moments() {
            poser.pose(self.character, moment).unwrap();
            let (got, linear) = (self.posed::<E>(&poser), self.posed::<Mat3x4>(&poser));
            for (got, linear) in got.iter().zip(&linear) {
                for (a, b) in got.positions.iter().zip(&linear.positions) {
                    worst.note(distance(wide(*a), wide(*b)) / self.size, 0.0);
                }
                for (a, b) in got.normals.iter().zip(&linear.normals) {
                    worst.note(0.0, angle(wide(*a), wide(*b)));
                }
            }
        }
        worst
    }

    /// Makes both comparisons, and describes the errors that exceed the bounds.
    fn method<E: PaletteEntry>(&self, what: &str, blend: Blend) -> Vec<String> {
        let worst = self.against_definition::<E>(blend);
        let apart = self.against_linear::<E>();
        println!(
            "{:24} {what:16} its own f64 {:7.1e} {:7.1e} rad   Mat3x4 {:7.1e} {:7.1e} rad",
            self.name, worst.position, worst.direction, apart.position, apart.direction
        );
        let mut faults = Vec::new();
        if worst.position > POSITION_BOUND || worst.direction > NORMAL_BOUND {
            faults.push(format!("{} {what}: {worst:?}", self.name));
        }
        if E::FORMAT == PaletteFormat::QuatOffset && apart.position > DISPLACEMENT {
            faults.push(format!("{} {what} against matrices: {apart:?}", self.name));
        }
        faults
    }

    /// A refusal names a joint of the character.
    fn refused(&self, error: &Error) {
        println!("{:24} refused: {error}", self.name);
        let Error::Unrepresentable { joint, name, .. } = error else {
            panic!("{}: {error}", self.name);
        };
        let joints = self.character.skeleton().joints();
        assert_eq!(joints[usize::from(*joint)].name, *name);
        assert!(error.to_string().contains(&**name));
    }

    fn check(&self) -> Vec<String> {
        let mut faults = self.method::<Mat3x4>("Mat3x4", linear);
        match PaletteFormat::of(self.character, SkinningMethod::QuatOffset) {
            Ok(_) => faults.extend(self.method::<QuatOffset>("QuatOffset", quat_offset)),
            Err(error) => self.refused(&error),
        }
        match PaletteFormat::of(self.character, SkinningMethod::DualQuat) {
            Ok(plan) => {
                if plan == PaletteFormat::DualQuat {
                    faults
                        .extend(self.method::<DualQuat>("DualQuat", |list| dual_quat(list, false)));
                }
                let blend: Blend = |list| dual_quat(list, true);
                faults.extend(self.method::<DualQuatStretch>("DualQuatStretch", blend));
            }
            Err(error) => self.refused(&error),
        }
        faults
    }
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn every_method_agrees_with_its_definition_on_every_asset() {
    let mut faults = Vec::new();
    // In `poses`, every file is compared as matrices.
    let step = if is_thorough() { 1 } else { 2 };
    for path in assets::files().into_iter().step_by(step) {
        let character = throng_import::file(&path, &in_file_order()).unwrap();
        let scene = gltf::load(&path);
        let name = path.file_name().unwrap().to_string_lossy();
        faults.extend(Subject::new(&name, &scene, &character).check());
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_method_agrees_with_its_definition_on_the_built_in_character() {
    let (scene, character) = (
        raw::scene(&RawCharacter::mannequin()),
        RawCharacter::mannequin().build(&in_file_order()).unwrap(),
    );
    let faults = Subject::new("built-in character", &scene, &character).check();
    assert!(faults.is_empty(), "{faults:#?}");
}
