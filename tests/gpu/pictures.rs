//! Pictures of views, viewports and passes.

use crate::reference::picture::{covered, different};
use crate::reference::ribbon::{built, ribbon};
use crate::support::frames::{
    EXTENT, FramesInFlight, NORMAL_Z, REVERSED_Z, depth, pass, picture, target,
};
use crate::support::{SMALL, Setup, each, reversed, stages, view};
use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::{CharacterDesc, Crowd, Id, PassDesc, PassId, PassKind, Spawn, Stages, View};
use throng_standalone::{Begin, Target, TargetDesc};

/// Four ribbons that show their red front to the camera. One of them is flipped.
pub(crate) fn populated(setup: &mut Setup) -> Crowd {
    let mut crowd = setup.crowd(2, SMALL);
    let character = built(ribbon(4)).character;
    let allocator = &mut setup.context.allocator();
    let id = crowd
        .add_character(allocator, &character, &CharacterDesc::default())
        .unwrap();
    for at in 0..4 {
        let sign = if at == 2 { -1.0 } else { 1.0 };
        let place = Vec3::new(at as f32 - 1.5, 0.0, 0.2 * at as f32);
        let spawn = Spawn {
            world_from_model: Affine3A::from_scale_rotation_translation(
                Vec3::new(sign, 1.0, 1.0),
                Quat::IDENTITY,
                place,
            ),
            play: if at == 0 {
                Id::new(0).into()
            } else {
                "sway".into()
            },
            ..Spawn::default()
        };
        crowd.spawn(id, &spawn).unwrap();
    }
    crowd
}

pub(crate) fn camera() -> View {
    view(Vec3::new(0.4, 2.0, 7.0), Vec3::new(0.0, 1.5, 0.0), EXTENT)
}

/// Numbers of texels that are more red than blue, and more blue than red.
///
/// The former show fronts of the ribbons, the latter backs.
pub(crate) fn sides(picture: &[u8]) -> (usize, usize) {
    let background = &picture[..4];
    let drawn = picture.chunks_exact(4).filter(|texel| *texel != background);
    drawn.fold((0, 0), |(red, blue), texel| {
        if texel[0] > texel[2] {
            (red + 1, blue)
        } else {
            (red, blue + 1)
        }
    })
}

fn upside_down(picture: &[u8], extent: vk::Extent2D) -> Vec<u8> {
    let rows: Vec<_> = picture
        .chunks_exact(extent.width as usize * 4)
        .rev()
        .collect();
    rows.concat()
}

/// Runs a test with a crowd, frames in flight, and a target to draw into.
pub(crate) fn scene(
    setup: &mut Setup,
    test: impl FnOnce(&mut Setup, &mut Crowd, &mut FramesInFlight, &Target),
) {
    let mut crowd = populated(setup);
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
    let target = target(&mut setup.context);
    test(setup, &mut crowd, &mut frames_in_flight, &target);
    frames_in_flight.destroy(&setup.context);
    setup.destroy(crowd);
}

#[test]
fn fronts_are_fronts_whichever_way_the_viewport_and_depth_run() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let near_0 = pass(crowd, target, false);
            let near_1 = pass(crowd, target, true);
            let context = &mut setup.context;
            let mut shoot = |views: &[View], pass: PassId, begin: &Begin| {
                let on = (target, pass, begin);
                picture(context, crowd, frames_in_flight, (0, 0.3), on, views)
            };
            let straight = shoot(&[camera()], near_0, &NORMAL_Z);
            let (red, blue) = sides(&straight);
            assert!(red > 500 && blue == 0, "{red} {blue}");

            let other_depth = shoot(&[reversed(&camera())], near_1, &REVERSED_Z);
            assert!(different(&straight, &other_depth, 1) < 20);

            let flipped = View {
                flip_y: true,
                ..camera()
            };
            let flipped = shoot(&[flipped], near_0, &NORMAL_Z);
            assert_eq!(sides(&flipped).1, 0, "backs are visible");
            let turned = upside_down(&flipped, EXTENT);
            assert!(
                different(&straight, &turned, 1) < 60,
                "the picture is not flipped vertically"
            );

            for (clip, pass, begin) in [
                (
                    rh::proj::vulkan::orthographic(-2.5, 2.5, -2.5, 2.5, 0.1, 20.0),
                    near_0,
                    &NORMAL_Z,
                ),
                (
                    rh::proj::vulkan::orthographic(-2.5, 2.5, -2.5, 2.5, 20.0, 0.1),
                    near_1,
                    &REVERSED_Z,
                ),
            ] {
                let from = rh::view::look_at_mat4(
                    Vec3::new(0.0, 1.5, 7.0),
                    Vec3::new(0.0, 1.5, 0.0),
                    Vec3::Y,
                );
                let view = View::new(clip * from, Vec3::new(0.0, 1.5, 700.0), EXTENT);
                let (red, blue) = sides(&shoot(&[view], pass, begin));
                assert!(red > 500 && blue == 0, "orthographic: {red} {blue}");
            }
            // From behind, only backs are visible.
            let behind = view(Vec3::new(0.4, 2.0, -7.0), Vec3::new(0.0, 1.5, 0.0), EXTENT);
            let (red, blue) = sides(&shoot(&[behind], near_0, &NORMAL_Z));
            assert!(red == 0 && blue > 300, "{red} {blue}");
        });
    });
}

#[test]
fn two_views_fill_their_halves_and_nothing_else() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            let on = (target, pass, &NORMAL_Z);
            let extent = vk::Extent2D {
                width: 48,
                height: 96,
            };
            let at = |x: i32, eye: Vec3| View {
                viewport: vk::Rect2D {
                    offset: vk::Offset2D { x, y: 0 },
                    extent,
                },
                ..view(eye, Vec3::new(0.0, 1.5, 0.0), extent)
            };
            let (left, right) = (
                at(0, Vec3::new(0.4, 2.0, 9.0)),
                at(48, Vec3::new(0.4, 4.0, -9.0)),
            );
            let context = &mut setup.context;
            let mut shoot =
                |views: &[View]| picture(context, crowd, frames_in_flight, (1, 0.3), on, views);
            let (both, one, two) = (shoot(&[left, right]), shoot(&[left]), shoot(&[right]));
            let row = |picture: &[u8], y: usize| picture[y * 96 * 4..(y + 1) * 96 * 4].to_vec();
            for y in 0..96 {
                let (both, one, two) = (row(&both, y), row(&one, y), row(&two, y));
                assert_eq!(both[..48 * 4], one[..48 * 4]);
                assert_eq!(both[48 * 4..], two[48 * 4..]);
                let background = &one[95 * 4..];
                assert!(
                    one[48 * 4..]
                        .chunks_exact(4)
                        .all(|texel| texel == background)
                );
            }
            assert!(covered(&one) > 200 && covered(&two) > 200);
        });
    });
}

/// A viewport may reach beyond the target on its left and above, in either direction of y.
#[test]
fn what_lies_outside_of_the_target_is_cut_off() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            let on = (target, pass, &NORMAL_Z);
            let context = &mut setup.context;
            let mut shoot = |x: i32, y: i32, flipped: bool| {
                let viewport = vk::Rect2D {
                    offset: vk::Offset2D { x, y },
                    extent: EXTENT,
                };
                let view = View {
                    viewport,
                    flip_y: flipped,
                    ..camera()
                };
                picture(context, crowd, frames_in_flight, (1, 0.3), on, &[view])
            };
            let whole = shoot(0, 0, false);
            let (left, up) = (40, 30);
            let (x, y) = (-(left as i32), -(up as i32));
            let cut = shoot(x, y, false);
            let turned = upside_down(&shoot(x, y, true), EXTENT);
            let nothing = shoot(-(EXTENT.width as i32), 0, false);
            assert_eq!(covered(&nothing), 0);
            let columns = EXTENT.width as usize;
            let mut want = nothing.clone();
            for y in 0..EXTENT.height as usize - up {
                let row = 4 * y * columns..4 * (y * columns + columns - left);
                let from = 4 * ((y + up) * columns + left);
                want[row.clone()].copy_from_slice(&whole[from..][..row.len()]);
            }
            assert!(different(&want, &nothing, 0) > 100);
            // Elsewhere in the target, a colour is interpolated from another corner and rounds
            // differently by one. A vertex next to a tie of the rasterizer's grid moves an edge
            // by 1/256 of a texel, which can change a few texels. One column would be 243.
            let others = different(&cut, &want, 1);
            assert!(others < 10, "{others}");
            // The flipped picture, without its top.
            let shown = covered(&turned);
            assert!(shown > 100 && shown < covered(&whole), "{shown}");
        });
    });
}

#[test]
fn two_views_go_to_two_targets() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            let views = [
                camera(),
                view(Vec3::new(3.0, 2.0, -6.0), Vec3::new(0.0, 1.5, 0.0), EXTENT),
            ];
            let alone: Vec<_> = views
                .iter()
                .map(|view| {
                    let on = (target, pass, &NORMAL_Z);
                    picture(
                        &mut setup.context,
                        crowd,
                        frames_in_flight,
                        (0, 0.3),
                        on,
                        &[*view],
                    )
                })
                .collect();
            let second = crate::support::frames::target(&mut setup.context);
            let cmd = frames_in_flight.begin(&setup.context, 1);
            let context = &mut setup.context;
            unsafe {
                crowd.update(0.3).unwrap();
                let mut frame = crowd.begin_frame(&mut context.allocator(), 1, 0.3).unwrap();
                let ids = frame.record_prepare(cmd, &views).unwrap();
                // In the other order, to show that order does not matter.
                for (target, view) in [(&second, ids[1]), (target, ids[0])] {
                    target.begin(&context.device, cmd, &NORMAL_Z);
                    frame.record_draw(cmd, view, pass).unwrap();
                    target.end(&context.device, cmd);
                }
                let stats = frame.stats();
                assert_eq!(stats.instances, 4);
                // Two primitives, for plain and flipped instances, in two views.
                assert_eq!(stats.draws, 2 * 2 * 2);
                if stages() == Stages::Cpu {
                    assert_eq!(stats.triangles, 2 * 4 * 12);
                    assert_eq!(stats.vertices, 2 * 4 * 16);
                }
            }
            frames_in_flight.submit(&setup.context, 1);
            frames_in_flight.wait(&setup.context, 1);
            for (target, alone) in [(target, &alone[0]), (&second, &alone[1])] {
                let together = target.read_rgba().unwrap();
                assert_eq!(different(&together, alone, 0), 0);
            }
        });
    });
}

#[test]
fn several_samples_are_resolved() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let desc = TargetDesc {
                extent: EXTENT,
                samples: vk::SampleCountFlags::TYPE_4,
                ..TargetDesc::default()
            };
            let smooth = Target::new(&setup.context, &desc).unwrap();
            let one = pass(crowd, target, false);
            let four = pass(crowd, &smooth, false);
            let context = &mut setup.context;
            let mut shoot = |target: &Target, pass| {
                let on = (target, pass, &NORMAL_Z);
                picture(context, crowd, frames_in_flight, (0, 0.3), on, &[camera()])
            };
            let (hard, soft) = (shoot(target, one), shoot(&smooth, four));
            // Only edges differ.
            let other = different(&hard, &soft, 8);
            assert!(other > 50 && other < covered(&hard) / 2, "{other}");
        });
    });
}

#[test]
fn a_depth_pass_writes_the_depth_of_a_colour_pass_and_no_colour() {
    each(|setup| {
        let mut crowd = populated(setup);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let desc = TargetDesc {
            extent: EXTENT,
            depth_usage: vk::ImageUsageFlags::TRANSFER_SRC,
            ..TargetDesc::default()
        };
        let target = Target::new(&setup.context, &desc).unwrap();
        for reversed_z in [false, true] {
            let color = pass(&mut crowd, &target, reversed_z);
            let desc = PassDesc {
                kind: PassKind::Depth,
                reversed_z,
                ..target.pass_desc()
            };
            let depth_only = unsafe { crowd.create_pass(&desc) }.unwrap();
            let (begin, view) = if reversed_z {
                (REVERSED_Z, reversed(&camera()))
            } else {
                (NORMAL_Z, camera())
            };
            let mut shoot = |pass| {
                let on = (&target, pass, &begin);
                let rgba = picture(
                    &mut setup.context,
                    &mut crowd,
                    &mut frames_in_flight,
                    (0, 0.3),
                    on,
                    &[view],
                );
                (rgba, depth(&mut setup.context, &target))
            };
            let ((painted, by_color), (plain, by_depth)) = (shoot(color), shoot(depth_only));
            assert!(
                by_color == by_depth,
                "the same vertices give the same depths"
            );
            assert!(by_depth.iter().filter(|d| **d != begin.depth).count() > 500);
            assert!(covered(&painted) > 500);
            assert_eq!(covered(&plain), 0);
        }
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}

#[test]
fn more_colour_attachments_take_independent_blend_and_are_left_alone() {
    each(|setup| {
        scene(setup, |setup, crowd, _, target| {
            let mut desc = target.pass_desc();
            desc.color_formats.push(desc.color_formats[0]);
            let made = unsafe { crowd.create_pass(&desc) };
            let bare = setup.config.bare;
            match made {
                Ok(pass) => {
                    assert!(!bare);
                    crowd.remove_pass(pass).unwrap();
                }
                Err(throng::Error::NotEnabled { missing, .. }) => {
                    assert!(bare && missing == ["independentBlend"]);
                }
                Err(error) => panic!("{error}"),
            }
        });
    });
}
