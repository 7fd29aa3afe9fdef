//! Hidden parts of instances, compared with characters that were imported without them.

use crate::reference::assets;
use crate::reference::handles::Handles;
use crate::reference::picture::{covered, different};
use crate::reference::ribbon::{built, ribbon};
use crate::reference::words::Fails;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, depth, pass, picture, target};
use crate::support::{SMALL, Setup, described, each, placed, stages, view};
use std::collections::BTreeSet;
use std::path::PathBuf;
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::ImportOptions;
use throng::mesh::AlphaMode;
use throng::palette::SkinningMethod;
use throng::{
    Capacity, CharacterDesc, Crowd, Error, Id, InstanceId, PassId, SkinningStage, Spawn, Stages,
    View,
};

fn knight() -> PathBuf {
    let named = |path: &PathBuf| path.ends_with("Knight.glb");
    assets::files().into_iter().find(named).expect("Knight.glb")
}

fn imported(path: &PathBuf, leave_out: &[&str]) -> Character {
    let options = ImportOptions {
        leave_out: leave_out.iter().map(|name| (*name).into()).collect(),
        ..ImportOptions::curves_only()
    };
    throng_import::file(path, &options).unwrap().character
}

fn camera() -> View {
    view(Vec3::new(0.8, 1.6, 4.2), Vec3::new(0.0, 1.1, 0.0), EXTENT)
}

const ROOM: Capacity = Capacity {
    palette_entries: 4096,
    skinned_words: 400_000,
    cpu_skinned_words: 400_000,
    ..SMALL
};

const FRAMES_IN_FLIGHT: u32 = 2;

fn look(
    setup: &mut Setup,
    crowd: &mut Crowd,
    frames_in_flight: &mut FramesInFlight,
    on: (&throng_standalone::Target, PassId),
) -> Vec<u8> {
    let on = (on.0, on.1, &NORMAL_Z);
    picture(
        &mut setup.context,
        crowd,
        frames_in_flight,
        (0, 0.3),
        on,
        &[camera()],
    )
}

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn each_part_of_the_knight_can_be_hidden() {
    let path = knight();
    let whole = imported(&path, &[]);
    let names: Vec<&str> = whole.parts().map(|(_, name)| name).collect();
    assert_eq!(names.len(), 15, "{names:?}");
    let missing = whole.part("Excalibur");
    assert!(
        matches!(&missing, Err(Error::UnknownName { what: "part", known, .. }) if known.contains("1H_Sword")),
        "{missing:?}"
    );
    // One configuration is enough: the differences of the others are tested with the ribbons.
    let mut setup = Setup::new(crate::support::CONFIGS[0]);
    let setup = &mut setup;
    let mut crowd = setup.crowd(FRAMES_IN_FLIGHT, ROOM);
    let target = target(&mut setup.context);
    let color = pass(&mut crowd, &target, false);
    let mut frames_in_flight = FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT);
    let kind = crowd.add_character(
        &mut setup.context.allocator(),
        &whole,
        &CharacterDesc::default(),
    );
    let kind = kind.unwrap();
    // At rest, because clips are packed for the parts of a character: without one of them they are
    // not packed to the same bits.
    let spawn = Spawn::default();
    let id = crowd.spawn(kind, &spawn).unwrap();
    let all = look(setup, &mut crowd, &mut frames_in_flight, (&target, color));
    // If the GPU culls, figures are of earlier frames, and draws do not depend on what is shown.
    let counts = stages() == Stages::Cpu;
    if counts {
        assert_eq!(crowd.stats().triangles, whole.triangle_count() as u64);
    }
    let mut seen = 0;
    for name in names {
        let part = whole.part(name).unwrap();
        assert_eq!(
            crowd.instance(id).and_then(|it| it.is_part_visible(part)),
            Ok(true)
        );
        crowd.live_mut(id).set_part_visible(part, false).unwrap();
        assert_eq!(
            crowd.instance(id).and_then(|it| it.is_part_visible(part)),
            Ok(false)
        );
        let without = look(setup, &mut crowd, &mut frames_in_flight, (&target, color));
        let stats = crowd.stats();
        // The same character, imported without that node.
        let lesser = imported(&path, &[name]);
        if counts {
            assert_eq!(stats.triangles, lesser.triangle_count() as u64, "{name}");
            assert_eq!(stats.vertices, lesser.vertex_count() as u64, "{name}");
        }
        let other = crowd.add_character(
            &mut setup.context.allocator(),
            &lesser,
            &CharacterDesc::default(),
        );
        let other = other.unwrap();
        let cpu_skin = crowd.spawn(other, &spawn).unwrap();
        crowd.live_mut(id).set_visible(false);
        let wanted = look(setup, &mut crowd, &mut frames_in_flight, (&target, color));
        assert_eq!(different(&without, &wanted, 0), 0, "{name}");
        if counts {
            assert_eq!(crowd.stats().draws, stats.draws, "{name}");
        }
        seen += usize::from(different(&without, &all, 0) > 0);
        crowd.despawn(cpu_skin).unwrap();
        crowd.remove_character(other).unwrap();
        crowd.live_mut(id).set_visible(true);
        crowd.live_mut(id).set_part_visible(part, true).unwrap();
    }
    // Some parts are behind or inside others.
    assert!(seen >= 10, "{seen} parts are seen");
    let again = look(setup, &mut crowd, &mut frames_in_flight, (&target, color));
    assert_eq!(different(&again, &all, 0), 0);
    frames_in_flight.destroy(&setup.context);
    setup.destroy(crowd);
    setup.context.messages.check().unwrap();
}

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn leaving_out_a_bone_keeps_it_and_leaves_what_hangs_on_it() {
    let path = knight();
    let whole = imported(&path, &[]);
    // The right hand holds two swords, and the skin needs it.
    let hand = whole.skeleton().joint("handslot.r").unwrap();
    let lesser = imported(&path, &["handslot.r"]);
    let names = |character: &Character| -> BTreeSet<String> {
        character.parts().map(|(_, name)| name.into()).collect()
    };
    let gone: Vec<String> = names(&whole).difference(&names(&lesser)).cloned().collect();
    assert_eq!(gone, ["1H_Sword", "2H_Sword"]);
    let joint = &whole.skeleton().joints()[hand.index()];
    assert!(lesser.skeleton().joint(&joint.name).is_ok());
    assert!(lesser.skeleton().joint("1H_Sword").is_err());
    let options = ImportOptions {
        leave_out: vec!["Cube".into()],
        ..ImportOptions::default()
    };
    let unknown = throng_import::file(&path, &options).map(drop);
    let named = matches!(&unknown, Err(Error::InFile { file, why })
        if &**file == "Knight.glb" && matches!(&**why, Error::UnknownName { name, known, .. }
            if &**name == "Cube" && known.contains("1H_Sword")));
    assert!(named, "{unknown:?}");
}

/// A ribbon whose front and back are parts. The back is blended if asked for.
fn sheet(blended: bool) -> Character {
    let mut raw = ribbon(4);
    for (primitive, name) in raw.primitives.iter_mut().zip(["front", "back"]) {
        primitive.part = name.into();
    }
    if blended {
        for material in &mut raw.materials {
            material.alpha = AlphaMode::Blend;
            material.base_color[3] = 0.7;
        }
    }
    for material in &mut raw.materials {
        material.double_sided = true;
    }
    built(raw).character
}

/// Six ribbons, some of them flipped, that hide nothing, the front, the back, or both.
fn rows(crowd: &mut Crowd, kind: throng::CharacterId, character: &Character, apart: bool) {
    let hide = |crowd: &mut Crowd, id: InstanceId, name: &str| {
        let part = character.part(name).unwrap();
        crowd.live_mut(id).set_part_visible(part, false).unwrap();
    };
    for at in 0..8 {
        let turn = Quat::from_rotation_y(0.3 * at as f32);
        let scale = Vec3::new(if at % 3 == 2 { -0.7 } else { 0.7 }, 0.7, 0.7);
        let place = Vec3::new(at as f32 * 0.5 - 1.8, -0.2, 0.3 * (at % 2) as f32);
        let spawn = Spawn {
            world_from_model: Affine3A::from_scale_rotation_translation(scale, turn, place),
            play: if at == 3 {
                Id::new(0).into()
            } else {
                "sway".into()
            },
            skinning_stage: [
                SkinningStage::Vertex,
                SkinningStage::Compute,
                SkinningStage::Cpu,
            ][at % 3],
            ..Spawn::default()
        };
        let (front, back) = (at % 4 != 1, at % 4 < 2 || at == 6);
        if !apart {
            let id = crowd.spawn(kind, &spawn).unwrap();
            if !front {
                hide(crowd, id, "front");
            }
            if !back {
                hide(crowd, id, "back");
            }
            continue;
        }
        // One instance for each visible part.
        for (shown, other) in [(front, "back"), (back, "front")] {
            if shown {
                let id = crowd.spawn(kind, &spawn).unwrap();
                hide(crowd, id, other);
            }
        }
    }
}

/// One instance with several parts and several instances with one part each draw the same.
///
/// This holds in all passes. Without a shader that knows of parts, the instances differ by their
/// lists alone.
#[test]
fn instances_that_hide_different_parts_stand_in_one_crowd() {
    each(|setup| {
        let character = sheet(false);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT);
        let desc = described(SkinningMethod::Linear, true);
        let mut pictures = Vec::new();
        for apart in [false, true] {
            let mut crowd = setup.crowd_with(Stages::Cpu, FRAMES_IN_FLIGHT, ROOM);
            let target = target(&mut setup.context);
            let kind = setup.add_with(&mut crowd, &character, &desc);
            rows(&mut crowd, kind, &character, apart);
            let color = pass(&mut crowd, &target, false);
            let seen = look(setup, &mut crowd, &mut frames_in_flight, (&target, color));
            let stats = crowd.stats();
            assert!(covered(&seen) > 1000);
            let far = depth(&mut setup.context, &target);
            let cmd = frames_in_flight.begin(&setup.context, 1);
            let mut frame = setup.begin(&mut crowd, 1, 0.3);
            let views = unsafe { frame.record_prepare(cmd, &[camera()]) }.unwrap();
            // An engine gets the same instances for each primitive.
            let counts: Vec<u32> = (0..2)
                .map(|primitive| {
                    let ranges = frame.draw_ranges(views[0], kind, primitive, false).unwrap();
                    ranges.map(|range| range.len() as u32).sum()
                })
                .collect();
            frame
                .draw_ranges(views[0], kind, 2, false)
                .fails("primitive … does not exist: there are …");
            frames_in_flight.submit(&setup.context, 1);
            frames_in_flight.wait(&setup.context, 1);
            pictures.push((seen, far, stats.triangles, stats.vertices, counts));
            setup.destroy(crowd);
        }
        assert_eq!(different(&pictures[0].0, &pictures[1].0, 0), 0);
        assert!(pictures[0].1 == pictures[1].1, "depths");
        assert_eq!(pictures[0].2, pictures[1].2, "triangles");
        assert_eq!(pictures[0].3, pictures[1].3, "vertices");
        assert_eq!(pictures[0].4, pictures[1].4, "instances of each primitive");
        frames_in_flight.destroy(&setup.context);
    });
}

#[test]
fn blended_parts_are_hidden_and_stay_sorted() {
    each(|setup| {
        let character = sheet(true);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT);
        let mut pictures = Vec::new();
        // A far instance hides its front, and a near one hides its back. The reference is two
        // characters without these parts, which are sorted on their own.
        for hides in [false, true] {
            let mut crowd = setup.crowd(FRAMES_IN_FLIGHT, ROOM);
            let target = target(&mut setup.context);
            let color = pass(&mut crowd, &target, false);
            for (z, hidden) in [(-0.5, "front"), (0.5, "back")] {
                let mut shown = sheet(true);
                if !hides {
                    shown = without(hidden);
                }
                let kind = setup.add(&mut crowd, &shown);
                let id = crowd
                    .spawn(
                        kind,
                        &placed(
                            Affine3A::from_translation(Vec3::new(0.2 * z, 0.0, z)),
                            "sway",
                        ),
                    )
                    .unwrap();
                if hides {
                    let part = character.part(hidden).unwrap();
                    crowd.live_mut(id).set_part_visible(part, false).unwrap();
                }
            }
            pictures.push(look(
                setup,
                &mut crowd,
                &mut frames_in_flight,
                (&target, color),
            ));
            setup.destroy(crowd);
        }
        assert!(covered(&pictures[0]) > 500);
        assert_eq!(different(&pictures[0], &pictures[1], 0), 0);
        frames_in_flight.destroy(&setup.context);
    });
}

/// A blended sheet that was built without one of its sides.
fn without(name: &str) -> Character {
    let mut raw = ribbon(4);
    for (primitive, part) in raw.primitives.iter_mut().zip(["front", "back"]) {
        primitive.part = part.into();
    }
    raw.primitives.retain(|primitive| &*primitive.part != name);
    for material in &mut raw.materials {
        material.alpha = AlphaMode::Blend;
        material.base_color[3] = 0.7;
        material.double_sided = true;
    }
    built(raw).character
}

#[test]
fn parts_that_can_not_be_hidden_are_refused() {
    each(|setup| {
        let mut crowd = setup.crowd(FRAMES_IN_FLIGHT, ROOM);
        let mut raw = ribbon(3);
        let side = raw.primitives[0].clone();
        raw.primitives = (0..130)
            .map(|number| {
                let mut primitive = side.clone();
                primitive.part = format!("part {number}").into();
                primitive
            })
            .collect();
        let character = built(raw).character;
        assert_eq!(character.parts().count(), 130);
        let kind = setup.add(&mut crowd, &character);
        let id = crowd.spawn(kind, &Spawn::default()).unwrap();
        let last = character.part("part 127").unwrap();
        crowd.live_mut(id).set_part_visible(last, false).unwrap();
        let past = character.part("part 128").unwrap();
        let full = crowd.on(id, |mut it| it.set_part_visible(past, false));
        let wanted = Error::Capacity {
            what: "primitives that can be hidden",
            asked: 129,
            cap: 128,
        };
        assert_eq!(full, Err(wanted));
        // A part of another character.
        let small = built(ribbon(3)).character;
        let small = setup.add(&mut crowd, &small);
        let other = crowd.spawn(small, &Spawn::default()).unwrap();
        crowd
            .on(other, |mut it| it.set_part_visible(last, false))
            .fails("part … does not exist: there are …");
        setup.destroy(crowd);
    });
}
