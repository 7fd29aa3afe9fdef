//! Attachments to joints of instances follow in the same frame, as 64-bit arithmetic computes them.

use crate::reference::handles::Handles;
use crate::reference::raws::{animation, linear};
use crate::reference::refused;
use crate::reference::ribbon::{built, ribbon};
use crate::reference::rng::Rng;
use crate::support::frames::{EXTENT, FramesInFlight};
use crate::support::{SMALL, Setup, each, placed, stages, view};
use throng::animator::RootMotionMode;
use throng::character::{AnimationDesc, ClipDesc, RootMotionDesc, SocketDesc};
use throng::glam::{Affine3A, DAffine3, DMat3, DVec3, Quat, Vec3, Vec3A};
use throng::import::RawKeys;
use throng::skeleton::{Joint, Socket};
use throng::{
    Attachment, CharacterDesc, CharacterId, Crowd, Culling, Id, InstanceId, JointRef, Play, Stages,
    Stats, View,
};

fn camera() -> View {
    View {
        culling: Culling::Off,
        ..view(Vec3::new(0.0, 2.0, 7.0), Vec3::ZERO, EXTENT)
    }
}

struct Stage {
    crowd: Crowd,
    frames_in_flight: FramesInFlight,
    frame_index: u32,
    kind: CharacterId,
}

impl Stage {
    fn new(setup: &mut Setup) -> Self {
        let mut crowd = setup.crowd(2, SMALL);
        let character = built(ribbon(4)).character;
        let kind = crowd.add_character(
            &mut setup.context.allocator(),
            &character,
            &CharacterDesc::default(),
        );
        Self {
            kind: kind.unwrap(),
            crowd,
            frames_in_flight: FramesInFlight::new(&setup.context, 2),
            frame_index: 0,
        }
    }

    fn spawn(&mut self, place: Affine3A, play: Play<'_>) -> InstanceId {
        self.crowd.spawn(self.kind, &placed(place, play)).unwrap()
    }

    fn frame(&mut self, setup: &mut Setup, time_s: f64) -> Stats {
        self.frame_index = 1 - self.frame_index;
        let cmd = self
            .frames_in_flight
            .begin(&setup.context, self.frame_index);
        let allocator = &mut setup.context.allocator();
        self.crowd.update(time_s).unwrap();
        let frame = unsafe { self.crowd.begin_frame(allocator, self.frame_index, time_s) };
        let mut frame = frame.unwrap();
        unsafe { frame.record_prepare(cmd, &[camera()]) }.unwrap();
        let stats = frame.stats();
        self.frames_in_flight
            .submit(&setup.context, self.frame_index);
        stats
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        setup.destroy(self.crowd);
    }
}

fn wide(affine: &Affine3A) -> DAffine3 {
    let m = affine.matrix3;
    let column = |v: Vec3A| DVec3::new(v.x.into(), v.y.into(), v.z.into());
    let matrix = DMat3::from_cols(column(m.x_axis), column(m.y_axis), column(m.z_axis));
    DAffine3::from_mat3_translation(matrix, column(affine.translation))
}

/// The absolute values of an affine map's elements, for error bounds.
fn magnitude(affine: &DAffine3) -> DAffine3 {
    let m = &affine.matrix3;
    let matrix = DMat3::from_cols(m.x_axis.abs(), m.y_axis.abs(), m.z_axis.abs());
    DAffine3::from_mat3_translation(matrix, affine.translation.abs())
}

fn elements(affine: &DAffine3) -> [f64; 12] {
    affine.to_cols_array()
}

fn place(rng: &mut Rng) -> Affine3A {
    let scale = rng.vector(0.5, 1.5) * if rng.chance(4) { -1.0 } else { 1.0 };
    Affine3A::from_scale_rotation_translation(scale, rng.rotation(), rng.vector(-3.0, 3.0))
}

/// The joint's model matrix. `sockets.rs` compares it with the whole pose.
fn joint(crowd: &Crowd, id: InstanceId, joint: Id<Joint>, time_s: f64) -> Affine3A {
    crowd.live(id).joint_model(joint, time_s).unwrap()
}

/// A chain of three on a moving instance, with offsets that scale and flip.
///
/// The reference is 64-bit products of the same 32-bit inputs: the root's transform, the joints'
/// model matrices and the offsets. The bound follows from two products of 32-bit affine matrices:
///
/// - Each element is a sum of at most four products, so its error is at most 4 half units in the
///   last place of the sum of the products' magnitudes.
/// - The second product passes on the error of the first: γ = 8 × 2⁻²⁴ of the product of
///   magnitudes.
/// - Each link of the chain adds its own error to the error of its parent.
#[test]
fn a_chain_is_where_exact_products_have_it() {
    let mut seed = 7;
    each(|setup| {
        seed += 1;
        let mut rng = Rng::new(seed);
        let mut stage = Stage::new(setup);
        let root = stage.spawn(place(&mut rng), "sway".into());
        let mut chain = vec![root];
        let mut links = Vec::new();
        for at in 0..3 {
            let play = if at == 1 { Play::REST } else { "turn".into() };
            let child = stage.spawn(place(&mut rng), play);
            let parent = *chain.last().unwrap();
            let (at, offset) = (Id::new(rng.below(4) as u16), place(&mut rng));
            // The order makes children older than parents in the list.
            links.insert(0, (child, parent, at, offset));
            chain.push(child);
        }
        for (child, parent, joint, offset) in &links {
            stage
                .crowd
                .live_mut(*child)
                .attach_to(Attachment::new(*parent, *joint).at(*offset))
                .unwrap();
            let wanted = Attachment {
                parent: *parent,
                socket: Socket::at(*joint).into(),
                socket_from_child: *offset,
                outlives_parent: false,
            };
            assert_eq!(
                stage.crowd.instance(*child).map(|it| it.attachment()),
                Ok(Some(wanted))
            );
            let children: Vec<_> = stage.crowd.live(*parent).attached().collect();
            assert_eq!(children, [*child]);
        }
        let mut largest: f64 = 0.0;
        for frame in 0..12 {
            let time_s = 0.17 * f64::from(frame);
            if frame % 3 != 1 {
                stage
                    .crowd
                    .live_mut(root)
                    .set_transform(&place(&mut rng))
                    .unwrap();
            }
            stage.frame(setup, time_s);
            let mut exact = wide(&stage.crowd.live(root).transform());
            let mut size = magnitude(&exact);
            for (number, (child, parent, at, offset)) in links.iter().rev().enumerate() {
                let model = joint(&stage.crowd, *parent, *at, time_s);
                let (model, offset) = (wide(&model), wide(offset));
                exact = exact * model * offset;
                size = size * magnitude(&model) * magnitude(&offset);
                let got = elements(&wide(&stage.crowd.live(*child).transform()));
                let bound = 8.0 * 2.0_f64.powi(-24) * (number + 1) as f64 * 1.001;
                for ((got, exact), size) in got.iter().zip(elements(&exact)).zip(elements(&size)) {
                    let off = (got - exact).abs();
                    largest = largest.max(off / (bound * size));
                    assert!(off <= bound * size, "link {number}: {got} {exact} {size}");
                }
            }
        }
        println!("largest error: {largest} of the bound");
        stage.destroy(setup);
    });
}

/// Attaches an instance to a joint or socket of a parent.
fn attached<'j>(
    crowd: &mut Crowd,
    child: InstanceId,
    (parent, socket): (InstanceId, impl Into<JointRef<'j>>),
    offset: Affine3A,
) -> throng::Result<()> {
    let to = Attachment::new(parent, socket).at(offset);
    crowd.on(child, |mut it| it.attach_to(to))
}

#[test]
fn attachments_that_make_no_sense_are_refused() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let ids: Vec<_> = (0..4)
            .map(|_| stage.spawn(Affine3A::IDENTITY, Play::REST))
            .collect();
        let [horse, rider, sword, dead] = ids[..] else {
            unreachable!()
        };
        let crowd = &mut stage.crowd;
        crowd.despawn(dead).unwrap();
        let offset = Affine3A::IDENTITY;
        let root = Id::<Joint>::new(0);
        refused! {
            attached(crowd, rider, (rider, root), offset) => "…parent: …";
        }
        crowd
            .live_mut(rider)
            .attach_to(Attachment::new(horse, "joint 1").at(offset))
            .unwrap();
        crowd
            .live_mut(sword)
            .attach_to(Attachment::new(rider, Id::<Joint>::new(3)).at(offset))
            .unwrap();
        refused! {
            attached(crowd, horse, (rider, root), offset) => "…parent: …";
            attached(crowd, horse, (sword, root), offset) => "…parent: …";
        }
        let nan = Affine3A::from_translation(Vec3::NAN);
        refused! {
            attached(crowd, sword, (horse, root), nan)
                => "…socket_from_child: …";
            crowd.on(sword, |mut it| {
                let joint = Socket { joint: root, offset: nan };
                it.attach_to(Attachment::new(horse, joint))
            }) => "…socket: …";
            crowd.on(sword, |mut it| it.set_transform(&offset)) => "…world_from_model: …";
            crowd.on(sword, |mut it| it.teleport(&offset)) => "…world_from_model: …";
            attached(crowd, sword, (horse, Id::<Joint>::new(4)), offset)
                => "joint 4 does not exist: there are …";
            attached(crowd, sword, (horse, "tail"), offset)
                => "joint or socket \"tail\" does not exist: there are …";
            attached(crowd, dead, (horse, root), offset) => "…no longer exists…";
            attached(crowd, sword, (dead, root), offset) => "…no longer exists…";
        }
        // The refused calls changed nothing.
        let parent = |crowd: &Crowd, id| crowd.live(id).attachment().map(|of| of.parent);
        assert_eq!(parent(crowd, sword), Some(rider));
        assert_eq!(parent(crowd, rider), Some(horse));
        assert_eq!(parent(crowd, horse), None);
        // Attached to another parent, and detached.
        crowd
            .live_mut(sword)
            .attach_to(Attachment::new(horse, root).at(offset))
            .unwrap();
        assert_eq!(parent(crowd, sword), Some(horse));
        assert_eq!(crowd.live(rider).attached().count(), 0);
        assert_eq!(crowd.live(horse).attached().count(), 2);
        assert!(crowd.live_mut(sword).detach());
        assert!(!crowd.live_mut(sword).detach());
        crowd.live_mut(sword).set_transform(&offset).unwrap();
        // Now in the other direction.
        crowd.live_mut(rider).detach();
        crowd
            .live_mut(horse)
            .attach_to(Attachment::new(rider, root).at(offset))
            .unwrap();
        stage.destroy(setup);
    });
}

#[test]
fn the_attached_go_or_stay_when_their_parent_is_despawned() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let play = || Play::from("sway");
        let horse = stage.spawn(Affine3A::from_translation(Vec3::X), play());
        let rider = stage.spawn(Affine3A::IDENTITY, play());
        let sword = stage.spawn(Affine3A::IDENTITY, Play::REST);
        let shield = stage.spawn(Affine3A::IDENTITY, Play::REST);
        let up = Affine3A::from_translation(Vec3::Y);
        let crowd = &mut stage.crowd;
        crowd
            .live_mut(rider)
            .attach_to(Attachment::new(horse, Id::<Joint>::new(2)).at(up))
            .unwrap();
        for child in [sword, shield] {
            let stays = Attachment {
                outlives_parent: true,
                ..Attachment::new(rider, Id::<Joint>::new(1)).at(up)
            };
            crowd.live_mut(child).attach_to(stays).unwrap();
            let outlives = |attachment: Attachment<'_>| attachment.outlives_parent;
            assert_eq!(
                crowd
                    .instance(child)
                    .map(|it| it.attachment())
                    .map(|a| a.map(outlives)),
                Ok(Some(true))
            );
        }
        // To attach it again forgets that.
        crowd
            .live_mut(sword)
            .attach_to(Attachment::new(rider, Id::<Joint>::new(3)).at(up))
            .unwrap();
        stage.frame(setup, 0.4);
        let before = stage.crowd.live(shield).transform();
        assert_ne!(before, Affine3A::IDENTITY);
        stage.crowd.despawn(horse).unwrap();
        let alive: Vec<_> = stage.crowd.instances().collect();
        assert_eq!(alive, [shield]);
        assert_eq!(stage.crowd.live(shield).attachment(), None);
        stage.frame(setup, 0.5);
        assert_eq!(stage.crowd.live(shield).transform(), before);
        // Other instances take their table indices, and are attached to nothing.
        for _ in 0..3 {
            let new = stage.spawn(up, play());
            assert_eq!(stage.crowd.live(new).attachment(), None);
            assert_eq!(stage.crowd.live(new).attached().count(), 0);
        }
        stage.frame(setup, 0.6);
        for id in stage.crowd.instances().filter(|id| *id != shield) {
            assert_eq!(stage.crowd.live(id).transform(), up);
        }
        stage.destroy(setup);
    });
}

/// Checks how many palettes the CPU wrote. The GPU says nothing about its own.
fn expect_animated(stats: Stats, count: u32) {
    let on_gpu = stages() == Stages::Gpu;
    assert!(on_gpu || stats.animated == count, "{}", stats.animated);
}

#[test]
fn a_hidden_parent_hides_what_is_attached_and_one_that_no_view_shows_does_not() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let horse = stage.spawn(Affine3A::IDENTITY, "sway".into());
        let rider = stage.spawn(Affine3A::IDENTITY, "sway".into());
        let sword = stage.spawn(Affine3A::IDENTITY, "sway".into());
        let up = Affine3A::from_translation(Vec3::Y);
        stage
            .crowd
            .live_mut(rider)
            .attach_to(Attachment::new(horse, Id::<Joint>::new(3)).at(up))
            .unwrap();
        stage
            .crowd
            .live_mut(sword)
            .attach_to(Attachment::new(rider, Id::<Joint>::new(3)).at(up))
            .unwrap();
        expect_animated(stage.frame(setup, 0.1), 3);
        stage.crowd.live_mut(horse).set_visible(false);
        expect_animated(stage.frame(setup, 0.2), 0);
        assert!(stage.crowd.live(sword).is_visible());
        // It still follows, and can be detached.
        let hidden = stage.crowd.live(sword).transform();
        stage.crowd.live_mut(sword).detach();
        expect_animated(stage.frame(setup, 0.3), 1);
        assert_eq!(stage.crowd.live(sword).transform(), hidden);
        stage
            .crowd
            .live_mut(sword)
            .attach_to(Attachment::new(rider, Id::<Joint>::new(3)).at(up))
            .unwrap();
        stage.crowd.live_mut(horse).set_visible(true);
        stage.crowd.live_mut(horse).set_view_mask(0);
        expect_animated(stage.frame(setup, 0.3), 2);
        let model = joint(&stage.crowd, horse, Id::new(3), 0.3);
        assert_eq!(stage.crowd.live(rider).transform(), model * up);
        stage.destroy(setup);
    });
}

/// An attachment to an instance that rests and stands still is not uploaded again.
#[test]
fn what_does_not_move_costs_no_upload() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let turn = Affine3A::from_quat(Quat::from_rotation_y(0.5));
        let parent = stage.spawn(turn, Play::REST);
        let child = stage.spawn(Affine3A::IDENTITY, Play::REST);
        stage
            .crowd
            .live_mut(child)
            .attach_to(Attachment::new(parent, Id::<Joint>::new(3)).at(turn))
            .unwrap();
        assert_eq!(stage.frame(setup, 0.1).changes, 2);
        assert_eq!(stage.frame(setup, 0.2).changes, 0);
        stage.crowd.live_mut(parent).play("sway").unwrap();
        // If the GPU poses the parent, it places the child, too.
        let on_gpu = stages() == Stages::Gpu;
        let stats = stage.frame(setup, 0.3);
        assert_eq!(stats.changes, if on_gpu { 1 } else { 2 });
        assert_eq!(stats.placed_on_gpu, u32::from(on_gpu));
        let stats = stage.frame(setup, 0.4);
        assert_eq!(stats.changes, u32::from(!on_gpu));
        stage.destroy(setup);
    });
}

/// The transform of a child at a named socket is the joint times the socket's offset.
#[test]
fn a_named_socket_holds_its_place() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let mut grip = SocketDesc::new("grip", "joint 2");
        grip.translation = [0.25, -0.5, 1.0];
        grip.rotation = Quat::from_rotation_x(0.7).to_array();
        grip.scale = 2.0;
        let desc = AnimationDesc {
            sockets: vec![grip],
            ..AnimationDesc::default()
        };
        let character = built(ribbon(4)).character.with_animation(&desc).unwrap();
        let allocator = &mut setup.context.allocator();
        stage.kind = stage
            .crowd
            .add_character(allocator, &character, &CharacterDesc::default())
            .unwrap();
        let mut rng = Rng::new(11);
        let parent = stage.spawn(place(&mut rng), "sway".into());
        let [by_name, by_id] = [(); 2].map(|()| stage.spawn(Affine3A::IDENTITY, Play::REST));
        let offset = place(&mut rng);
        let socket = character.socket("grip").unwrap();
        stage
            .crowd
            .live_mut(by_name)
            .attach_to(Attachment::new(parent, "grip").at(offset))
            .unwrap();
        stage
            .crowd
            .live_mut(by_id)
            .attach_to(Attachment::new(parent, socket).at(offset))
            .unwrap();
        refused! {
            attached(&mut stage.crowd, by_id, (parent, "gripp"), offset)
                => "… \"gripp\" does not exist: there are …";
        }
        for frame in 0..4 {
            let time_s = 0.21 * f64::from(frame);
            stage.frame(setup, time_s);
            let model = wide(&joint(&stage.crowd, parent, Id::new(2), time_s));
            let own = Affine3A::from_scale_rotation_translation(
                Vec3::splat(2.0),
                Quat::from_rotation_x(0.7),
                Vec3::new(0.25, -0.5, 1.0),
            );
            let world = wide(&stage.crowd.live(parent).transform());
            let exact = elements(&(world * model * wide(&own) * wide(&offset)));
            for child in [by_name, by_id] {
                let got = elements(&wide(&stage.crowd.live(child).transform()));
                for (got, want) in got.iter().zip(exact) {
                    // Elements of up to 30, rounded to `f32` in three products.
                    assert!((got - want).abs() < 1e-4, "{got} {want}");
                }
            }
        }
        stage.destroy(setup);
    });
}

/// An attached instance follows its parent and ignores its own root motion.
///
/// The root motion is still reported, and moves the instance again after it is detached.
#[test]
fn root_motion_waits_while_an_instance_is_attached() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        // One metre per second along +Z.
        let mut raw = ribbon(4);
        raw.animations.push(animation(
            "walk",
            vec![linear(
                0,
                [0.0, 1.0],
                RawKeys::Translation(vec![Vec3::ZERO, Vec3::Z]),
            )],
        ));
        let walk = ClipDesc {
            name: "walk".into(),
            root_motion: Some(RootMotionDesc::default()),
            ..ClipDesc::default()
        };
        let desc = AnimationDesc {
            clips: vec![walk],
            ..AnimationDesc::default()
        };
        let character = built(raw).character.with_animation(&desc).unwrap();
        let allocator = &mut setup.context.allocator();
        stage.kind = stage
            .crowd
            .add_character(allocator, &character, &CharacterDesc::default())
            .unwrap();
        let parent = stage.spawn(Affine3A::from_translation(Vec3::X), Play::REST);
        let child = stage.spawn(Affine3A::IDENTITY, "walk".into());
        let apply = RootMotionMode::Apply;
        stage.crowd.live_mut(child).set_root_motion(apply);
        stage
            .crowd
            .live_mut(child)
            .attach_to(Attachment::new(parent, Id::<Joint>::new(0)).at(Affine3A::IDENTITY))
            .unwrap();
        let stands = stage.crowd.live(parent).transform();
        for frame in 0..4 {
            stage.frame(setup, 0.1 * f64::from(frame));
            assert_eq!(stage.crowd.live(child).transform(), stands);
        }
        assert!(stage.crowd.live(child).root_delta().translation.z > 0.0);
        stage.crowd.live_mut(child).detach();
        stage.frame(setup, 0.4);
        let moved = stage.crowd.live(child).transform().translation - stands.translation;
        // It walked for a tenth of a second since then, with the rounding of numbers near 1.
        assert!((moved - Vec3A::Z * 0.1).length() < 1e-6, "{moved}");
        stage.destroy(setup);
    });
}
