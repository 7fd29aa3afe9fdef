//! No vertex of a skinned character leaves its sphere, whatever plays.

use super::models::{add_solvers, for_each};
use super::orders::{order, shake};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::reference::sweep::rounds;
use throng::animator::{ActorId, Animator, Play};
use throng::character::Character;
use throng::palette::{
    DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, PaletteFormat, QuatOffset, SkinningMethod,
};
use throng::skin::{PosedVertices, Skinner};

/// A character's animator of a skinning method, and one actor.
struct Stage<'a> {
    character: &'a Character,
    skinner: Skinner,
    animator: Animator,
    actor: ActorId,
    format: PaletteFormat,
    vertices: PosedVertices,
    /// The largest distance of a vertex from the centre over the radius.
    fullest: f32,
}

impl<'a> Stage<'a> {
    fn new(character: &'a Character, method: SkinningMethod, rng: &mut Rng) -> Option<Self> {
        let format = PaletteFormat::of(character, method).ok()?;
        let mut animator = Animator::new(character).unwrap();
        animator.set_skinning_method(method);
        add_solvers(&mut animator, character.skeleton(), rng);
        let actor = animator.add(Play::REST).unwrap();
        Some(Self {
            character,
            skinner: Skinner::new(character).unwrap(),
            animator,
            actor,
            format,
            vertices: PosedVertices::default(),
            fullest: 0.0,
        })
    }

    fn check(&mut self, context: &str) {
        match self.format {
            PaletteFormat::Mat3x4 => self.check_as(Mat3x4::IDENTITY, context),
            PaletteFormat::DualQuat => self.check_as(DualQuat::IDENTITY, context),
            PaletteFormat::DualQuatStretch => self.check_as(DualQuatStretch::IDENTITY, context),
            PaletteFormat::QuatOffset => self.check_as(QuatOffset::IDENTITY, context),
        }
    }

    fn check_as<E: PaletteEntry>(&mut self, none: E, context: &str) {
        let mut palette = vec![none; self.character.palette().len()];
        let mut weights = vec![0.0; self.character.morph_weights().len()];
        self.animator
            .palettes(&[self.actor], &mut palette[..])
            .unwrap();
        let actor = self.animator.live(self.actor);
        actor.morph_weights(&mut weights).unwrap();
        let sphere = actor.bounding_sphere();
        for primitive in 0..self.character.primitives().len() {
            let out = &mut self.vertices;
            self.skinner
                .skin_primitive(primitive, &palette, &weights, out)
                .unwrap();
            for (vertex, position) in out.positions.iter().enumerate() {
                let distance = position.distance(sphere.center);
                assert!(
                    sphere.contains(*position),
                    "{context}, {:?}: vertex {vertex} of primitive {primitive} is {distance} m \
                     from the centre of {sphere:?}",
                    self.format,
                );
                self.fullest = self.fullest.max(distance / sphere.radius);
            }
        }
    }
}

/// Random commands and times. A pose with shear or stretch is only for matrices.
fn plays(name: &str, character: &Character, method: SkinningMethod, rounds: usize) -> Option<f32> {
    let rng = &mut Rng::new(rounds as u64 + method as u64);
    let mut stage = Stage::new(character, method, rng)?;
    let size = character.rest_bounds().size().length();
    let (mut now_s, mut shows) = (0.0, false);
    for round in 0..rounds {
        order(&mut stage.animator, stage.actor, character, rng);
        let actor = stage.animator.live(stage.actor);
        shows |= actor.pose().is_some();
        if shows && method != SkinningMethod::Linear {
            // The pose before may still fade out, so start anew.
            stage.animator.remove(stage.actor).unwrap();
            stage.actor = stage.animator.add(Play::REST).unwrap();
            shows = false;
            continue;
        }
        for step in 0..3 {
            shake(&mut stage.animator, stage.actor, size, rng);
            stage.check(&format!("{name}, round {round}, step {step}"));
            now_s += f64::from(rng.range(0.0, 0.3));
            stage.animator.update(now_s).unwrap();
        }
    }
    Some(stage.fullest)
}

#[test]
fn no_vertex_leaves_its_sphere() {
    for_each(16, |name, character| {
        let vertices = character.vertex_count();
        // Every model gets about the same time.
        let rounds = rounds((60_000 / vertices.max(1)).clamp(20, 80));
        let methods = [
            SkinningMethod::Linear,
            SkinningMethod::DualQuat,
            SkinningMethod::QuatOffset,
        ];
        for method in methods {
            if let Some(fullest) = plays(name, &character, method, rounds) {
                println!("{name}, {method:?}: up to {:.0} %", 100.0 * fullest);
            }
        }
    });
}
