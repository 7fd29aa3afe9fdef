//! Front faces under negative scales of the instance, of a clip, and of both.

use crate::reference::picture::{covered, different};
use crate::reference::raws;
use crate::reference::raws::{animation, linear};
use crate::reference::ribbon::built;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, picture, target};
use crate::support::{SMALL, Setup, each, placed, view};
use std::fmt::Display;
use throng::glam::{Affine3A, Mat4, Quat, Vec3};
use throng::gpu::PrimitiveDraw;
use throng::import::{RawAnimation, RawCharacter, RawKeys, RawNode, RawPrimitive};
use throng::mesh::Material;
use throng::{CharacterDesc, CharacterId, Crowd, PassId, Play, Spawn};
use throng_standalone::Target;

fn node(name: &str, parent: Option<usize>, translation: Vec3) -> RawNode {
    raws::node(name, parent, raws::at(translation))
}

/// Boxes with edges of length 1 around these places, each on its own joint, in one primitive.
fn boxes(places: &[Vec3]) -> RawPrimitive {
    let mut out = RawPrimitive {
        skin: Some(0),
        influences_per_vertex: 1,
        ..RawPrimitive::default()
    };
    for (joint, place) in (0..).zip(places) {
        for normal in [
            Vec3::X,
            Vec3::NEG_X,
            Vec3::Y,
            Vec3::NEG_Y,
            Vec3::Z,
            Vec3::NEG_Z,
        ] {
            let right = normal.any_orthonormal_vector();
            let up = normal.cross(right);
            let first = out.positions.len() as u32;
            for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
                out.positions
                    .push(*place + normal * 0.5 + right * x + up * y);
                out.normals.push(normal);
                out.joints.push(joint);
                out.weights.push(1.0);
            }
            let corners = [0, 1, 2, 0, 2, 3];
            out.indices.extend(corners.map(|corner| first + corner));
        }
    }
    out
}

fn to(node: usize, name: &str, scale: Vec3) -> RawAnimation {
    animation(
        name,
        vec![linear(
            node,
            [0.0, 1.0],
            RawKeys::Scale(vec![Vec3::ONE, scale]),
        )],
    )
}

/// A body and two arms that clips flip. One arm is the child of the other.
fn body(double_sided: bool) -> RawCharacter {
    let places = [
        Vec3::ZERO,
        Vec3::new(1.3, 0.6, 0.2),
        Vec3::new(1.3, 2.0, 0.2),
    ];
    RawCharacter {
        nodes: vec![
            node("body", None, places[0]),
            node("arm", Some(0), places[1]),
            node("hand", Some(1), places[2] - places[1]),
        ],
        skins: vec![raws::skin(
            [0, 1, 2],
            places.map(|p| Mat4::from_translation(-p)).to_vec(),
        )],
        primitives: vec![RawPrimitive {
            material: Some(0),
            ..boxes(&places)
        }],
        materials: vec![Material {
            double_sided,
            ..Material::default()
        }],
        animations: vec![
            to(1, "arm", Vec3::new(-1.0, 1.0, 1.0)),
            to(2, "hand", Vec3::new(1.0, -1.0, 1.0)),
            to(0, "all", Vec3::new(1.0, 1.0, -1.0)),
        ],
        ..RawCharacter::default()
    }
}

/// A crowd of two characters that differ only in their material: single-sided and double-sided.
struct Pair {
    crowd: Crowd,
    frames_in_flight: FramesInFlight,
    target: Target,
    pass: PassId,
    ids: [CharacterId; 2],
}

impl Pair {
    fn new(setup: &mut Setup, made: impl Fn(bool) -> RawCharacter) -> Self {
        let mut crowd = setup.crowd(2, SMALL);
        let target = target(&mut setup.context);
        let allocator = &mut setup.context.allocator();
        let ids = [false, true].map(|double_sided| {
            let imported = built(made(double_sided));
            let id = crowd
                .add_character(allocator, &imported, &CharacterDesc::default())
                .unwrap();
            let draws = &crowd.mesh(id).unwrap().draws()[0];
            assert_eq!(draws.len(), imported.geometry.draws);
            id
        });
        Self {
            pass: pass(&mut crowd, &target, false),
            frames_in_flight: FramesInFlight::new(&setup.context, 2),
            crowd,
            target,
            ids,
        }
    }

    /// The draws of the single-sided character.
    fn draws(&self) -> &[PrimitiveDraw] {
        &self.crowd.mesh(self.ids[0]).unwrap().draws()[0]
    }

    /// Asserts that both characters look the same.
    ///
    /// Closed boxes do, even if their backs are drawn too. A front face that is mistaken for a back
    /// face would show the inside of a box.
    #[track_caller]
    fn look_the_same(&mut self, setup: &mut Setup, spawn: &Spawn<'_>, row: impl Display) {
        let eye = view(Vec3::new(3.0, 3.5, 6.0), Vec3::new(0.3, 0.8, 0.0), EXTENT);
        let [one, both] = self.ids.map(|id| {
            let instance = self.crowd.spawn(id, spawn).unwrap();
            let shot = picture(
                &mut setup.context,
                &mut self.crowd,
                &mut self.frames_in_flight,
                (0, 0.0),
                (&self.target, self.pass, &NORMAL_Z),
                &[eye],
            );
            self.crowd.despawn(instance).unwrap();
            shot
        });
        assert!(covered(&one) > 300, "{row}: nothing is seen");
        let wrong = different(&one, &both, 1);
        // Edges of the silhouette: a back face may cover a sample that no front face covers.
        assert!(wrong <= 8, "{row}: {wrong} pixels");
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        setup.destroy(self.crowd);
    }
}

/// A clip that stands at a time.
fn stopped(clip: &str, time_s: f64) -> Play<'_> {
    Play::new(clip).offset_s(time_s).speed(0.0).once()
}

/// The flag of a variant whose vertices follow one joint each.
const ONE_INFLUENCE: u32 = crate::shader_layout::GpuPrimitive::ONE_INFLUENCE;

#[test]
fn what_turns_over_is_drawn_from_its_front() {
    each(|setup| {
        let mut pair = Pair::new(setup, body);
        let flips = pair.draws();
        let joints = flips.iter().filter(|draw| draw.flip_code.is_some()).count();
        // Body, arm and hand flip at different times: two draws for each.
        assert_eq!((flips.len(), joints), (6, 6));
        assert!(flips.iter().all(|draw| draw.variant & ONE_INFLUENCE != 0));
        for clip in ["arm", "hand", "all"] {
            for time_s in [0.0, 0.3, 0.8, 1.0] {
                for scale in [Vec3::ONE, Vec3::new(-1.0, 1.0, 1.0)] {
                    let turn = Quat::from_rotation_y(0.3);
                    let place = Affine3A::from_scale_rotation_translation(scale, turn, Vec3::ZERO);
                    let spawn = placed(place, stopped(clip, time_s));
                    let row = format!("{clip} at {time_s}, {scale}");
                    pair.look_the_same(setup, &spawn, row);
                }
            }
        }
        pair.destroy(setup);
    });
}

/// Boxes that follow body and arm with unequal and with equal weights.
fn blended(double_sided: bool) -> RawCharacter {
    let mut raw = body(double_sided);
    let part = &mut raw.primitives[0];
    part.influences_per_vertex = 2;
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for arm in [0.03, 0.97, 0.5] {
        for _ in 0..24 {
            joints.extend([0, 1]);
            weights.extend([1.0 - arm, arm]);
        }
    }
    (part.joints, part.weights) = (joints, weights);
    raw
}

/// The joint with the largest weight decides if a triangle is flipped.
///
/// A triangle that follows both joints equally shows both sides.
#[test]
fn the_heavier_part_decides() {
    each(|setup| {
        let mut pair = Pair::new(setup, |double_sided| {
            let mut raw = blended(double_sided);
            // Only the arm flips, because the body would flip everything.
            raw.animations.truncate(1);
            raw
        });
        let draws = pair.draws();
        let steady = |draw: &&PrimitiveDraw| draw.flip_code.is_none() && !draw.double_sided;
        let both = |draw: &&PrimitiveDraw| draw.flip_code.is_none() && draw.double_sided;
        assert_eq!(draws.len(), 4);
        assert_eq!(draws.iter().filter(steady).count(), 1);
        assert_eq!(draws.iter().filter(both).count(), 1);
        for time_s in [0.0, 0.2, 0.45, 0.6, 0.9, 1.0] {
            let spawn = placed(Affine3A::IDENTITY, stopped("arm", time_s));
            pair.look_the_same(setup, &spawn, time_s);
        }
        pair.destroy(setup);
    });
}
