//! Hidden instances, instances that only some views show, and lists of the caller.

use crate::reference::handles::Handles;
use crate::reference::picture::{covered, different};
use crate::reference::refused;
use crate::reference::ribbon::{built, ribbon};
use crate::reference::words::Fails;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, picture, record, target};
use crate::support::{SMALL, Setup, described, each, placed, view};
use throng::ash::vk;
use throng::glam::{Affine3A, Vec3};
use throng::palette::SkinningMethod;
use throng::{
    Capacity, CharacterId, Crowd, Frame, InstanceId, ListId, SkinningStage, Spawn, Stages, View,
};

const CAMERA: u32 = 1;
const SHADOW: u32 = 2;

fn camera() -> View {
    view(Vec3::new(0.4, 2.0, 7.0), Vec3::new(0.0, 1.5, 0.0), EXTENT)
}

/// Three ribbons side by side. The last one is flipped.
fn populated(setup: &mut Setup, capacity: Capacity) -> (Crowd, CharacterId, Vec<InstanceId>) {
    let mut crowd = setup.crowd_with(Stages::Cpu, 2, capacity);
    let character = built(ribbon(4)).character;
    let desc = described(SkinningMethod::Linear, true);
    let kind = setup.add_with(&mut crowd, &character, &desc);
    let spawn = |at: usize| {
        let place = Vec3::new(at as f32 - 1.0, 0.0, 0.0);
        let scale = Vec3::new(if at == 2 { -1.0 } else { 1.0 }, 1.0, 1.0);
        let spawn = placed(
            Affine3A::from_translation(place) * Affine3A::from_scale(scale),
            "sway",
        );
        crowd.spawn(kind, &spawn).unwrap()
    };
    let ids = (0..3).map(spawn).collect();
    (crowd, kind, ids)
}

#[test]
fn what_is_hidden_is_neither_drawn_nor_animated() {
    each(|setup| {
        let (mut crowd, _, ids) = populated(setup, SMALL);
        let target = target(&mut setup.context);
        let pass = pass(&mut crowd, &target, false);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let mut frame_index = 0;
        let mut look = |setup: &mut Setup, crowd: &mut Crowd, view: View| {
            frame_index = 1 - frame_index;
            let on = (&target, pass, &NORMAL_Z);
            let context = &mut setup.context;
            let seen = picture(
                context,
                crowd,
                &mut frames_in_flight,
                (frame_index, 0.3),
                on,
                &[view],
            );
            (seen, crowd.stats())
        };
        let (all, stats) = look(setup, &mut crowd, camera());
        assert_eq!((stats.animated, stats.instances), (3, 3));
        let per_instance = (stats.vertices / 3, stats.triangles / 3);
        for id in &ids {
            // Every way of hiding gives the same picture.
            crowd.live_mut(*id).set_visible(false);
            let (hidden, stats) = look(setup, &mut crowd, camera());
            assert!(covered(&hidden) + 100 < covered(&all));
            assert_eq!((stats.animated, stats.instances), (2, 3));
            let drawn = (stats.vertices / 2, stats.triangles / 2);
            assert_eq!(drawn, per_instance);
            crowd.live_mut(*id).set_visible(true);
            for (mask, of_view) in [(0, u32::MAX), (SHADOW, CAMERA)] {
                crowd.live_mut(*id).set_view_mask(mask);
                let view = View {
                    mask: of_view,
                    ..camera()
                };
                let (masked, stats) = look(setup, &mut crowd, view);
                assert_eq!(different(&masked, &hidden, 0), 0);
                assert_eq!(stats.animated, 2);
            }
            crowd.live_mut(*id).set_view_mask(SHADOW | CAMERA);
            let (again, stats) = look(setup, &mut crowd, camera());
            assert_eq!(different(&again, &all, 0), 0);
            assert_eq!(stats.animated, 3);
            // It was moved while hidden, and its clip has advanced.
            crowd.live_mut(*id).set_view_mask(u32::MAX);
        }
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}

#[test]
fn each_view_draws_what_it_shows() {
    each(|setup| {
        let (mut crowd, kind, ids) = populated(setup, SMALL);
        let target = target(&mut setup.context);
        let pass = pass(&mut crowd, &target, false);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let half = |right: bool, mask: u32| View {
            mask,
            viewport: vk::Rect2D {
                offset: vk::Offset2D {
                    x: if right { 48 } else { 0 },
                    y: 0,
                },
                extent: vk::Extent2D {
                    width: 48,
                    height: 96,
                },
            },
            ..camera()
        };
        let mut look = |setup: &mut Setup, crowd: &mut Crowd, views: &[View]| {
            let on = (&target, pass, &NORMAL_Z);
            picture(
                &mut setup.context,
                crowd,
                &mut frames_in_flight,
                (0, 0.3),
                on,
                views,
            )
        };
        // Only the shadow shows the player's own body, and a marker has no shadow.
        crowd.live_mut(ids[0]).set_view_mask(SHADOW);
        crowd.live_mut(ids[2]).set_view_mask(!SHADOW);
        let both = look(
            setup,
            &mut crowd,
            &[half(false, CAMERA), half(true, SHADOW)],
        );
        assert_eq!(crowd.stats().animated, 3);
        crowd.live_mut(ids[0]).set_visible(false);
        let left = look(setup, &mut crowd, &[half(false, CAMERA)]);
        crowd.live_mut(ids[0]).set_visible(true);
        crowd.live_mut(ids[2]).set_visible(false);
        let right = look(setup, &mut crowd, &[half(true, SHADOW)]);
        let texels = |picture: &[u8], right: bool| -> Vec<u8> {
            let rows = picture.chunks_exact(96 * 4);
            let halves = rows.map(|row| row.split_at(48 * 4));
            halves
                .flat_map(|(a, b)| if right { b } else { a })
                .copied()
                .collect()
        };
        assert!(covered(&left) > 300 && covered(&right) > 300);
        assert_eq!(texels(&both, false), texels(&left, false));
        assert_eq!(texels(&both, true), texels(&right, true));
        crowd.live_mut(ids[2]).set_visible(true);
        // Each view has a list of its own.
        let cmd = frames_in_flight.begin(&setup.context, 1);
        let masks = [CAMERA, CAMERA | 4, SHADOW, u32::MAX];
        let views = masks.map(|mask| View { mask, ..camera() });
        let mut frame = setup.begin(&mut crowd, 1, 0.3);
        let ids = unsafe { frame.record_prepare(cmd, &views) }.unwrap();
        let ranges: Vec<_> = ids
            .iter()
            .map(|id| frame.draw_bindings(*id, kind, 0).unwrap())
            .map(|inputs| (inputs.plain, inputs.flipped))
            .collect();
        // The morph weights come before the visible list.
        let start = ranges[0].0.start;
        let from = |first: u32, end: u32| start + first..start + end;
        assert_eq!(ranges[0], (from(0, 1), from(1, 2)));
        assert_eq!(ranges[1], (from(2, 3), from(3, 4)));
        assert_eq!(ranges[2], (from(4, 6), from(6, 6)));
        assert_eq!(ranges[3], (from(6, 8), from(8, 9)));
        frames_in_flight.submit(&setup.context, 1);
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}

#[test]
fn lists_name_what_a_view_shows_and_are_checked() {
    each(|setup| {
        let (mut crowd, kind, ids) = populated(setup, SMALL);
        let dead = crowd.spawn(kind, &Spawn::default()).unwrap();
        crowd.despawn(dead).unwrap();
        let target = target(&mut setup.context);
        let pass = pass(&mut crowd, &target, false);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        // The reference picture, drawn without a list.
        crowd.live_mut(ids[1]).set_visible(false);
        let on = (&target, pass, &NORMAL_Z);
        let context = &mut setup.context;
        let wanted = picture(
            context,
            &mut crowd,
            &mut frames_in_flight,
            (0, 0.3),
            on,
            &[camera()],
        );
        crowd.live_mut(ids[1]).set_visible(true);

        let cmd = frames_in_flight.begin(&setup.context, 1);
        let mut frame = setup.begin(&mut crowd, 1, 0.3);
        refused! {
            frame.make_list(&[ids[0], dead]) => "instance 1: instance … no longer exists…";
            frame.make_list(&[ids[0], ids[1], ids[2], ids[1]])
                => "instance 3: …: is equal to that of element 1";
        }
        // Refused lists leave nothing behind.
        let list = frame.make_list(&[ids[2], ids[0]]).unwrap();
        let nobody = frame.make_list(&[]).unwrap();
        let third = frame.make_list(&ids).unwrap();
        frame.make_list(&[]).unwrap();
        frame.make_list(&[]).fails(
            "lists (Capacity::views, raised by Crowd::reserve): 5 requested, at most 4 allowed",
        );
        let view = |list: ListId| View {
            list: Some(list),
            ..camera()
        };
        let views = [view(list), view(nobody), view(third), camera()];
        let prepared = unsafe { frame.record_prepare(cmd, &views) }.unwrap();
        let count = |frame: &Frame<'_>, at: usize| {
            let inputs = frame.draw_bindings(prepared[at], kind, 0).unwrap();
            (inputs.plain.len(), inputs.flipped.len())
        };
        assert_eq!(count(&frame, 0), (1, 1));
        assert_eq!(count(&frame, 1), (0, 0));
        assert_eq!(count(&frame, 2), (2, 1));
        // A list of all instances equals no list.
        assert_eq!(count(&frame, 3), count(&frame, 2));
        assert_eq!(frame.stats().animated, 3);
        frame.make_list(&[]).fails("frame: …");
        unsafe {
            target.begin(&setup.context.device, cmd, &NORMAL_Z);
            frame.record_draw(cmd, prepared[0], pass).unwrap();
            target.end(&setup.context.device, cmd);
        }
        frames_in_flight.submit(&setup.context, 1);
        frames_in_flight.wait(&setup.context, 1);
        let seen = target.read_rgba().unwrap();
        assert_eq!(different(&seen, &wanted, 0), 0);

        // A list belongs to its frame.
        let cmd = frames_in_flight.begin(&setup.context, 0);
        let mut frame = setup.begin(&mut crowd, 0, 0.3);
        unsafe { frame.record_prepare(cmd, &[view(list)]) }.fails("view 0: View::list: …");
        // Only the instance in the list is animated.
        let one = frame.make_list(&ids[..1]).unwrap();
        unsafe { frame.record_prepare(cmd, &[view(one)]) }.unwrap();
        assert_eq!(frame.stats().animated, 1);
        frames_in_flight.submit(&setup.context, 0);
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}

#[test]
fn what_no_view_shows_is_not_skinned() {
    let capacity = Capacity {
        skinned_words: 4096,
        cpu_skinned_words: 4096,
        ..SMALL
    };
    each(|setup| {
        let (mut crowd, _, ids) = populated(setup, capacity);
        let target = target(&mut setup.context);
        let pass = pass(&mut crowd, &target, false);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let on = (&target, pass, &NORMAL_Z);
        let context = &mut setup.context;
        let all = picture(
            context,
            &mut crowd,
            &mut frames_in_flight,
            (0, 0.3),
            on,
            &[camera()],
        );
        for (id, skin) in ids.iter().zip([SkinningStage::Compute, SkinningStage::Cpu]) {
            crowd.live_mut(*id).set_skinning_stage(skin).unwrap();
            crowd.live_mut(*id).set_visible(false);
        }
        let cmd = frames_in_flight.begin(&setup.context, 1);
        let mut frame = setup.begin(&mut crowd, 1, 0.3);
        unsafe { frame.record_prepare(cmd, &[camera()]) }.unwrap();
        assert_eq!((frame.stats().skinned, frame.stats().animated), (0, 1));
        for id in &ids[..2] {
            frame.skinned(*id).fails("instance: …");
        }
        frames_in_flight.submit(&setup.context, 1);
        ids.iter()
            .for_each(|id| crowd.live_mut(*id).set_visible(true));
        let context = &mut setup.context;
        let cmd = frames_in_flight.begin(context, 0);
        record(context, &mut crowd, cmd, (0, 0.3), on, &[camera()]);
        frames_in_flight.submit(context, 0);
        frames_in_flight.wait(context, 0);
        assert_eq!(crowd.stats().skinned, 2);
        let seen = target.read_rgba().unwrap();
        // It is skinned in another stage, so edges may round to another pixel.
        assert!(different(&seen, &all, 1) < 5);
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}
