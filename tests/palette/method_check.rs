//! The checks of a method, compared with plain `f64` code.
//!
//! The tests use random characters and the test assets. An accepted character is displaced by no
//! more than the bound at any time. A refused one exceeds the bound in the pose that the error
//! names.

use crate::reference::compare::{in_file_order, pairings};
use crate::reference::maths::{M4, V3, length, mul, trs};
use crate::reference::methods::{Entry, determinant, displacement};
use crate::reference::rng::Rng;
use crate::reference::scene::Scene;
use crate::reference::{assets, gltf, random, raw};
use std::collections::BTreeMap;
use throng::character::Character;
use throng::error::Unrepresentable;
use throng::glam::{Mat4, Vec3};
use throng::import::{RawCharacter, RawKeys};
use throng::palette::{PaletteFormat, SkinningMethod};
use throng::{Error, Id};

const METHODS: [SkinningMethod; 2] = [SkinningMethod::DualQuat, SkinningMethod::QuatOffset];

/// A random character with scales limited in one of several ways.
fn tamed(seed: u64) -> RawCharacter {
    let mut made = random::character(seed);
    let mut rng = Rng::new(seed ^ 0xABCD);
    let kind = rng.below(4);
    for node in &mut made.nodes {
        let trs = &mut node.transform;
        trs.scale = match kind {
            0 => Vec3::ONE,
            1 => Vec3::splat(rng.range(0.7, 1.4)),
            // Few joints are stretched, so that some have no rotating joint below them.
            2 if rng.chance(8) => rng.vector(0.7, 1.4),
            2 => Vec3::ONE,
            _ => trs.scale,
        };
    }
    if kind < 3 {
        for matrix in made
            .skins
            .iter_mut()
            .flat_map(|skin| &mut skin.inverse_bind)
        {
            *matrix = Mat4::from_rotation_translation(rng.rotation(), rng.vector(-0.5, 0.5));
        }
    }
    for animation in &mut made.animations {
        for channel in &mut animation.channels {
            if let RawKeys::Scale(values) = &mut channel.values {
                match kind {
                    0 => values.fill(Vec3::ONE),
                    1 => values.iter_mut().for_each(|v| *v = Vec3::splat(v.x.abs())),
                    _ => {}
                }
            }
        }
        if kind == 2 {
            let is_scale = |values: &RawKeys| matches!(values, RawKeys::Scale(_));
            animation
                .channels
                .retain(|channel| !is_scale(&channel.values));
        }
    }
    made
}

/// The skinning matrix of every palette entry in `f64`.
fn palette(entries: &BTreeMap<usize, (usize, M4)>, globals: &[M4]) -> BTreeMap<usize, M4> {
    let matrix = |(entry, (node, inverse_bind)): (&usize, &(usize, M4))| {
        (*entry, mul(&globals[*node], inverse_bind))
    };
    entries.iter().map(matrix).collect()
}

struct Subject<'a> {
    scene: &'a Scene,
    character: &'a Character,
    entries: BTreeMap<usize, (usize, M4)>,
    size: f64,
}

impl Subject<'_> {
    /// The displacement by a format of the vertices of an entry, relative to the model's size.
    ///
    /// It is infinite if the matrix flips.
    fn displaced(&self, entry: usize, matrix: &M4, method: SkinningMethod, stretch: bool) -> f64 {
        if determinant(matrix) <= 0.0 {
            return f64::INFINITY;
        }
        let held = Entry::new(*matrix);
        let parts = held.parts;
        let held = match (method, stretch) {
            (SkinningMethod::QuatOffset, _) => held.offset,
            (_, false) => trs(parts.translation, parts.rotation, [1.0; 3]),
            (_, true) => trs(parts.translation, parts.rotation, parts.stretch),
        };
        let bounds = self.character.palette()[entry].bounds;
        let corner = |v: Vec3| -> V3 { v.to_array().map(f64::from) };
        displacement(matrix, &held, corner(bounds.min), corner(bounds.max)) / self.size
    }

    fn moments(&self) -> Vec<Option<(usize, f64)>> {
        let clips = self.scene.clips.iter().enumerate();
        let times =
            clips.flat_map(|(index, clip)| clip.times().into_iter().map(move |t| Some((index, t))));
        [None].into_iter().chain(times).collect()
    }

    /// The largest displacement of all entries at all times.
    fn worst(&self, method: SkinningMethod, stretch: bool) -> f64 {
        let mut worst = 0.0_f64;
        for moment in self.moments() {
            for (entry, matrix) in palette(&self.entries, &self.scene.globals(moment)) {
                worst = worst.max(self.displaced(entry, &matrix, method, stretch));
            }
        }
        worst
    }

    /// The skinning matrices of one joint's entries in the pose that an error names.
    fn named(&self, joint: u16, at: &str) -> Vec<(usize, M4)> {
        let moments: Vec<_> = match at {
            "the rest pose" => vec![None],
            at => {
                let at = at
                    .strip_prefix("clip \"")
                    .and_then(|at| at.strip_suffix(" s"));
                let (name, time_s) = at.unwrap().rsplit_once("\" at ").unwrap();
                let time_s: f64 = time_s.parse().unwrap();
                let clips = self.scene.clips.iter().enumerate();
                let named = clips.filter(|(_, clip)| *clip.name == *name);
                named.map(|(index, _)| Some((index, time_s))).collect()
            }
        };
        let all = moments
            .into_iter()
            .flat_map(|moment| palette(&self.entries, &self.scene.globals(moment)));
        all.filter(|(entry, _)| self.character.palette()[*entry].joint == Id::new(joint))
            .collect()
    }

    /// The fault of a refusal or an acceptance, if there is one, and the result of the check.
    fn check(&self, method: SkinningMethod) -> Outcome {
        let name = self.character.name();
        match PaletteFormat::of(self.character, method) {
            Ok(plan) => {
                // Splines may exceed the bound a little between the times of the check.
                let stretch = plan == PaletteFormat::DualQuatStretch;
                let worst = self.worst(method, stretch);
                assert!(worst <= 1.5e-4, "{name} {method:?}: {worst:e}");
                // A stretch was needed at some time, which may not be one of the reference's times.
                Outcome::Accepted {
                    stretched: stretch && self.worst(method, false) > 0.9e-4,
                }
            }
            Err(Error::Unrepresentable { joint, at, why, .. }) => {
                let named = self.named(joint, &at);
                let off = |(entry, matrix): &(usize, M4)| match why {
                    Unrepresentable::ZeroScale { .. } => flatness(matrix) < 2e-6,
                    _ => self.displaced(*entry, matrix, method, true) > 0.9e-4,
                };
                assert!(
                    named.iter().any(off),
                    "{name} {method:?} joint {joint}, {at}: {why}"
                );
                Outcome::Refused
            }
            Err(other) => panic!("{name}: {other}"),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Accepted { stretched: bool },
    Refused,
}

/// The length of the shortest column divided by that of the longest. 0 if all are 0.
fn flatness(m: &M4) -> f64 {
    let lengths = [0, 1, 2].map(|c| length([m[0][c], m[1][c], m[2][c]]));
    let (least, most) = (
        lengths.into_iter().fold(f64::INFINITY, f64::min),
        lengths.into_iter().fold(0.0, f64::max),
    );
    if most > 0.0 { least / most } else { 0.0 }
}

fn subject<'a>(scene: &'a Scene, character: &'a Character) -> Subject<'a> {
    let entries = pairings(scene, character)
        .into_iter()
        .flat_map(|p| p.entries);
    Subject {
        scene,
        character,
        entries: entries.collect(),
        size: scene.size(),
    }
}

#[test]
fn the_checks_agree_with_the_reference_on_random_characters() {
    let mut all = Vec::new();
    for seed in 0..400 {
        let mut made = tamed(seed);
        for (index, animation) in made.animations.iter_mut().enumerate() {
            animation.name = format!("clip {index}").into();
        }
        let scene = raw::scene(&made);
        let character = made.build(&in_file_order()).unwrap();
        let subject = subject(&scene, &character);
        all.extend(METHODS.map(|method| subject.check(method)));
    }
    let count = |wanted: Outcome| all.iter().filter(|outcome| **outcome == wanted).count();
    let [plain, stretched] = [false, true].map(|stretched| count(Outcome::Accepted { stretched }));
    let refused = count(Outcome::Refused);
    assert!(
        plain > 100 && stretched > 20 && refused > 100,
        "{plain} {stretched} {refused}"
    );
}

/// One model of the test assets scales nodes unevenly and to zero. It alone is refused.
#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn the_checks_agree_with_the_reference_on_every_asset() {
    for path in assets::files() {
        let character = throng_import::file(&path, &in_file_order()).unwrap();
        let scene = gltf::load(&path);
        let subject = subject(&scene, &character);
        let outcomes = METHODS.map(|method| subject.check(method));
        if path.ends_with("InterpolationTest.gltf") {
            assert_eq!(outcomes, [Outcome::Refused, Outcome::Refused]);
        } else if let Some("CesiumMan" | "Fox" | "Fox_quantized" | "Knight") =
            path.file_stem().and_then(|s| s.to_str())
        {
            assert!(!outcomes.contains(&Outcome::Refused), "{}", path.display());
        }
    }
}
