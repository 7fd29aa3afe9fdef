//! Parts that do not fit, and joints that are held.

use super::{MOMENTS, apart, body, built, check_palette, cloak, dressed, holder, named, posed};
use crate::reference::raws::{morph, moves};
use crate::reference::ribbon::rest_model;
use crate::reference::words::{Fails, Says};
use throng::glam::{Quat, Vec3};
use throng::import::{RawCharacter, RawPrimitive};
use throng::mesh::{Material, MorphWeight};
use throng::outfit::{OutfitIssue, OutfitOptions};

/// A box that a node below a joint of the ribbon carries.
fn prop(raw: &mut RawCharacter, name: &str, parent: usize) {
    let node = holder(raw, name, parent, Vec3::new(0.5, 0.2, 0.1));
    raw.nodes[node].transform.rotation = Quat::from_rotation_x(0.4);
    raw.nodes[node].transform.scale = Vec3::splat(0.5);
    raw.primitives.push(RawPrimitive {
        name: name.into(),
        part: name.into(),
        node,
        ..RawPrimitive::cuboid(Vec3::splat(0.3))
    });
}

#[test]
fn a_prop_on_a_node_is_held_by_the_joint_above() {
    let mut whole = body();
    prop(&mut whole, "lamp", 3);
    let whole = built(&whole);
    let mut other = cloak();
    other.primitives.clear();
    prop(&mut other, "lamp", 3);
    // Nodes between the joint and the prop do not matter.
    let between = holder(&mut other, "hook", 3, Vec3::ZERO);
    other.nodes[5].parent = Some(between);
    let (worn, report) = dressed(&other, &OutfitOptions::default());
    assert_eq!(report.left_out, []);
    let held = ("lamp".into(), "joint 3".into());
    assert_eq!(report.held, [held]);
    check_palette(&worn);
    assert_eq!(worn.skeleton(), built(&body()).skeleton());
    // Both matrices are rounded, some ten times.
    let apart_m = apart(&worn, &whole, "lamp");
    assert!(apart_m <= 10.0 * 5.0 * f32::EPSILON, "{apart_m}");
}

/// The cloak with an additional joint of its skin above its tip.
fn long_cloak() -> RawCharacter {
    let mut other = cloak();
    let hem = holder(&mut other, "hem", 4, Vec3::Y);
    let skin = &mut other.skins[0];
    skin.joints.push(hem);
    skin.inverse_bind
        .push(throng::glam::Mat4::from_translation(Vec3::NEG_Y * 5.0));
    let joints = &mut other.primitives[0].joints;
    let last = joints.len() - 1;
    joints[last] = 5;
    other
}

#[test]
fn a_joint_of_a_skin_without_a_match_is_missing_or_held() {
    let (bare, report) = dressed(&long_cloak(), &OutfitOptions::default());
    assert_eq!(bare, built(&body()));
    assert_eq!((report.added.len(), report.held.len()), (0, 0));
    report.left_out[0].says("part \"cloak\" left out: joint \"hem\" has no match");
    let hold = OutfitOptions {
        hold_joints: true,
        ..OutfitOptions::default()
    };
    let (worn, report) = dressed(&long_cloak(), &hold);
    let held = ("hem".into(), "joint 4".into());
    assert_eq!((report.left_out.len(), report.held), (0, vec![held]));
    // At rest, it is where the file has it; then it follows the last joint.
    let mut stiff = cloak();
    let last = stiff.primitives[0].joints.len() - 1;
    stiff.primitives[0].joints[last] = 4;
    let (stiff, _) = dressed(&stiff, &OutfitOptions::default());
    let apart_m = apart(&worn, &stiff, "cloak");
    assert!(apart_m <= 20.0 * 6.0 * f32::EPSILON, "{apart_m}");
    // What follows that joint alone is held.
    let mut other = long_cloak();
    other.primitives.push(RawPrimitive {
        part: "bell".into(),
        node: 6,
        ..RawPrimitive::cuboid(Vec3::ONE)
    });
    holder(&mut other, "bell", 5, Vec3::ZERO);
    let (_, report) = dressed(&other, &OutfitOptions::default());
    assert_eq!((report.added.len(), report.left_out.len()), (1, 1));
    let held = ("bell".into(), "joint 4".into());
    assert_eq!(report.held, [held]);
}

#[test]
fn renamed_joints_are_reported_and_other_parts_stay() {
    let mut other = cloak();
    let mut scarf = other.primitives[0].clone();
    (scarf.name, scarf.part) = ("scarf".into(), "scarf".into());
    for joint in &mut scarf.joints {
        *joint = (*joint).min(2);
    }
    other.primitives.push(scarf);
    other.nodes[3].name = "elbow".into();
    let (worn, report) = dressed(&other, &OutfitOptions::default());
    let added: Vec<&str> = report.added.iter().map(|one| &*one.name).collect();
    assert_eq!(added, ["scarf"]);
    let why = OutfitIssue::MissingJoint {
        joint: "elbow".into(),
    };
    assert_eq!(
        (&*report.left_out[0].name, &report.left_out[0].why),
        ("cloak", &why)
    );
    check_palette(&worn);
    // Only the parts that were asked for are looked at.
    let scarf = OutfitOptions {
        parts: vec!["scarf".into()],
        ..OutfitOptions::default()
    };
    let (again, report) = dressed(&other, &scarf);
    assert_eq!(report.left_out, []);
    assert_eq!(again, worn);
}

#[test]
fn a_match_that_is_flat_at_rest_is_refused() {
    let mut flat = body();
    flat.nodes[2].transform.scale = Vec3::new(1.0, 1.0, 0.0);
    let (_, report) = built(&flat)
        .with_parts_of(&built(&cloak()), &OutfitOptions::default())
        .unwrap();
    report.left_out[0].says(
        "part \"cloak\" left out: the match of joint \"joint 2\" is flat or mirrored at rest",
    );
}

#[test]
fn wrong_options_are_refused() {
    let (own, other) = (built(&body()), built(&cloak()));
    let with = |options: OutfitOptions| own.with_parts_of(&other, &options).map(drop);
    let unknown = OutfitOptions {
        parts: vec!["cloak".into(), "hat".into()],
        ..OutfitOptions::default()
    };
    with(unknown).fails("part \"hat\" does not exist: there are cloak");
    for max_distance in [-0.1, f32::NAN, f32::INFINITY] {
        let options = OutfitOptions {
            max_distance,
            ..OutfitOptions::default()
        };
        with(options).fails("max_distance: …");
    }
}

#[test]
fn only_as_many_parts_as_can_be_hidden_are_added() {
    let mut other = cloak();
    let cloak = other.primitives[0].clone();
    other.primitives = (0..130)
        .map(|number| RawPrimitive {
            name: format!("{number}").into(),
            part: format!("{number}").into(),
            ..cloak.clone()
        })
        .collect();
    let (worn, report) = dressed(&other, &OutfitOptions::default());
    assert_eq!((worn.parts().count(), report.added.len()), (128, 126));
    let texts: Vec<String> = report.left_out.iter().map(|one| one.to_string()).collect();
    let text = |part: usize| {
        format!(
            "part \"{part}\" left out: 129 primitives that can be hidden, at most 128 are allowed"
        )
    };
    assert_eq!(texts, [126, 127, 128, 129].map(text));
    let last = report.added[125].part;
    assert_eq!(worn.part("125").unwrap(), last);
}

/// The cloak with morph targets of these names.
fn shaped(names: &[&str]) -> RawCharacter {
    let mut other = cloak();
    other.morphs = vec![morph(0, "cloth", vec![0.25; names.len()])];
    other.morphs[0].names = names.iter().map(|name| (*name).into()).collect();
    let cloak = &mut other.primitives[0];
    cloak.morph = Some(0);
    let target = |at: usize| moves(vec![Vec3::X * (at + 1) as f32], vec![at as u32]);
    cloak.targets = (0..names.len()).map(target).collect();
    other
}

#[test]
fn morph_targets_come_along_and_equal_names_are_reported() {
    let mut own = body();
    own.morphs = vec![morph(0, "face", vec![0.0; 2])];
    own.morphs[0].names = ["smile", "wide"].map(Into::into).to_vec();
    own.primitives[1].morph = Some(0);
    own.primitives[1].targets = vec![moves(vec![Vec3::Z], vec![1]); 2];
    let own = built(&own);
    let other = built(&shaped(&["wide", "long", "tall"]));
    let options = OutfitOptions {
        prefix: "new ".into(),
        ..OutfitOptions::default()
    };
    let (worn, report) = own.with_parts_of(&other, &options).unwrap();
    let weights: Vec<(&str, &str, f32)> = worn
        .morph_weights()
        .iter()
        .map(|one| (&*one.name, &*one.owner, one.rest))
        .collect();
    let wanted = [
        ("smile", "face", 0.0),
        ("wide", "face", 0.0),
        ("wide", "new cloth", 0.25),
        ("long", "new cloth", 0.25),
        ("tall", "new cloth", 0.25),
    ];
    assert_eq!(weights, wanted);
    assert_eq!(report.same_morphs, ["wide".into()]);
    let cloak = named(&worn, "new cloak")[0];
    assert_eq!(cloak.first_weight.index(), 2);
    assert_eq!(cloak.targets, other.primitives()[0].targets);
    for moment in MOMENTS {
        let (worn, there) = (
            posed(&worn, "new cloak", moment),
            posed(&other, "cloak", None),
        );
        if moment.is_none() {
            assert_eq!(worn, there);
        }
    }
    assert_eq!(rest_model(&worn).len(), 5);
    // The same weights are not added twice, but others are.
    let (twice, report) = worn.with_parts_of(&other, &options).unwrap();
    assert_eq!(twice.morph_weights().len(), 8);
    assert_eq!(
        (&*report.added[0].name, report.same_morphs.len()),
        ("new cloak (2)", 3)
    );
    // The limit of morph weights.
    let mut many = shaped(&[]);
    many.morphs[0].weights = vec![0.0; MorphWeight::MAX_COUNT - 4];
    many.primitives[0].targets = vec![moves(vec![Vec3::X], vec![0]); MorphWeight::MAX_COUNT - 4];
    let (_, report) = worn.with_parts_of(&built(&many), &options).unwrap();
    report.left_out[0]
        .says("part \"cloak\" left out: 65537 morph weights, at most 65536 are allowed");
}

#[test]
fn the_other_character_may_be_bare() {
    let mut other = cloak();
    other.primitives.clear();
    other.materials = vec![Material::default()];
    let (same, report) = dressed(&other, &OutfitOptions::default());
    assert_eq!(same, built(&body()));
    assert_eq!((report.added.len(), report.left_out.len()), (0, 0));
    // A skeleton without meshes takes on those of another character.
    let mut bones = body();
    bones.primitives.clear();
    let (worn, report) = built(&bones)
        .with_parts_of(&built(&cloak()), &OutfitOptions::default())
        .unwrap();
    assert_eq!(report.left_out, []);
    assert_eq!(worn.rest_bounds(), built(&cloak()).rest_bounds());
    check_palette(&worn);
}
