//! Expressions of both versions, and how actors show them.

use super::files::{import, repairs, vrm0, vrm1};
use crate::reference::cases;
use crate::reference::handles::Handles;
use crate::reference::words::Fails;
use serde_json::json;
use throng::Id;
use throng::animator::{Animator, Play};
use throng::character::Character;
use throng::mesh::{Expression, ExpressionOverride};

fn morphs(character: &Character, name: &str) -> Vec<(u16, f32)> {
    let id = character.expression(name).unwrap();
    let expression = &character.expressions()[id.index()];
    expression
        .morphs
        .iter()
        .map(|(id, weight)| (id.0, *weight))
        .collect()
}

#[test]
fn both_versions_give_the_same_expressions() {
    for file in [vrm0(), vrm1()] {
        let imported = import(&file);
        assert_eq!(morphs(&imported, "happy"), [(0, 0.5), (2, 0.25)]);
        assert_eq!(morphs(&imported, "blink"), [(1, 1.0)]);
        assert_eq!(morphs(&imported, "wink"), [(1, 0.75)]);
        let wink = imported.expression("wink").unwrap();
        assert!(imported.expressions()[wink.index()].binary);
        assert!(imported.expression("Joy").is_err());
    }
    let imported = import(&vrm1());
    let happy = imported.expression("happy").unwrap();
    let happy = &imported.expressions()[happy.index()];
    assert_eq!(happy.blink, ExpressionOverride::Blend);
    assert_eq!(happy.mouth, ExpressionOverride::None);
}

#[test]
fn an_actor_shows_expressions() {
    let character = import(&vrm1()).character;
    let mut animator = Animator::new(&character).unwrap();
    let actor = animator.add(Play::REST).unwrap();
    let mut show = |set: &[(&str, f32)]| {
        for (name, weight) in [
            ("happy", 0.0),
            ("blink", 0.0),
            ("wink", 0.0),
            ("surprised", 0.0),
        ] {
            let set = set.iter().find(|(other, _)| *other == name);
            animator
                .live_mut(actor)
                .set_expression(name, set.map_or(weight, |set| set.1))
                .unwrap();
        }
        let mut out = [9.0; 3];
        animator.live(actor).morph_weights(&mut out).unwrap();
        out
    };
    assert_eq!(show(&[]), [0.0; 3]);
    assert_eq!(show(&[("happy", 1.0)]), [0.5, 0.0, 0.25]);
    assert_eq!(show(&[("happy", 0.5)]), [0.25, 0.0, 0.125]);
    assert_eq!(show(&[("blink", 0.5)]), [0.0, 0.5, 0.0]);
    // A blend takes its own weight away from the other, a block everything.
    assert_eq!(
        show(&[("blink", 1.0), ("happy", 0.25)]),
        [0.125, 0.75, 0.0625]
    );
    assert_eq!(show(&[("blink", 1.0), ("surprised", 0.01)]), [0.0; 3]);
    // Of a binary one, nothing shows up to a half.
    assert_eq!(show(&[("wink", 0.5)]), [0.0; 3]);
    assert_eq!(show(&[("wink", 0.6)]), [0.0, 0.75, 0.0]);
    // Expressions add up, and an override of a single weight counts more.
    assert_eq!(show(&[("wink", 1.0), ("blink", 0.5)]), [0.0, 1.25, 0.0]);
    animator
        .live_mut(actor)
        .set_morph_weight(Id::new(1), Some(0.1))
        .unwrap();
    let mut out = [0.0; 3];
    animator.live(actor).morph_weights(&mut out).unwrap();
    assert_eq!(out, [0.0, 0.1, 0.0]);
    assert_eq!(animator.live(actor).expression("wink").unwrap(), 1.0);
    animator
        .on(actor, |mut it| it.set_expression("grin", 1.0))
        .fails("…grin…");
    animator
        .on(actor, |mut it| it.set_expression("wink", 1.5))
        .fails("weight: 1.5 lies outside 0..=1");
    animator
        .on(actor, |mut it| it.set_expression(Id::new(4), 1.0))
        .fails("expression 4 does not exist: there are 4");
}

#[test]
fn binds_of_materials_are_left_out_and_listed() {
    let mut b = vrm1();
    let happy = "/extensions/VRMC_vrm/expressions/preset/happy";
    let happy = b.json.pointer_mut(happy).unwrap();
    happy["materialColorBinds"] =
        json!([{ "material": 0, "type": "color", "targetValue": [1, 1, 1, 1] }]);
    happy["textureTransformBinds"] = json!([{ "material": 0 }, { "material": 1 }]);
    happy["morphTargetBinds"] = json!([
        { "node": 400, "index": 0, "weight": 1.0 },
        { "node": 18, "index": 3, "weight": 1.0 },
        { "node": 2, "index": 0, "weight": 1.0 },
        { "index": 0 },
    ]);
    let imported = import(&b);
    assert_eq!(morphs(&imported, "happy"), []);
    let repairs = repairs(&imported).join("\n");
    let part = "extensions.VRMC_vrm.expressions.preset.happy";
    for line in [
        format!("file, {part}.materialColorBinds: left out, because it is not supported (1)"),
        format!("file, {part}.textureTransformBinds: left out, because it is not supported (2)"),
        format!("{part}.morphTargetBinds[0]: left out: refers to node 400, but there are 20"),
        format!("{part}.morphTargetBinds[3]: left out: names no morph target"),
        "expression \"happy\", weight 3 of node 18: left out: refers to target 3, but there are 3"
            .into(),
        "expression \"happy\", weight 0 of node 2: left out: the node has no morph weights".into(),
    ] {
        assert!(repairs.contains(&line), "{line} in {repairs}");
    }
    let mut b = vrm0();
    let groups = "/extensions/VRM/blendShapeMaster/blendShapeGroups";
    let groups = b.json.pointer_mut(groups).unwrap();
    groups[0]["materialValues"] = json!([{ "materialName": "x" }]);
    groups[1]["binds"][0]["mesh"] = json!(0);
    groups[2]["name"] = json!("blink");
    let imported = import(&b);
    assert_eq!(imported.expressions().len(), 2);
    let repairs = super::files::repairs(&imported).join("\n");
    let part = "extensions.VRM.blendShapeMaster.blendShapeGroups";
    for line in [
        format!("{part}[0].materialValues: left out, because it is not supported (1)"),
        format!("{part}[1].binds[0]: left out: no node has this mesh with morph targets"),
        "expression \"blink\": left out: has the name of another one (1)".into(),
        "extensions.VRM.materialProperties: left out, because it is not supported (1)".into(),
    ] {
        assert!(repairs.contains(&line), "{line} in {repairs}");
    }
}

#[test]
fn expressions_that_do_not_fit_are_refused() {
    let character = import(&vrm1()).character;
    let of = |name: &str, morph, weight| Expression::new(name, vec![(Id::new(morph), weight)]);
    for (case, expressions, message) in cases![
        vec![of("a", 3, 1.0)]
            => "expression 0: morph 0: morph weight 3 does not exist: there are 3";
        vec![of("a", 0, f32::NAN)] => "expression 0: morph 0: weight: NaN is not finite";
        vec![
            of("a", 0, 1.0),
            Expression::new("b", vec![(Id::new(0), f32::MAX); 2]),
        ]
            => "expression 1: morph 1: morph weight: is equal to that of element 0";
        vec![of("a", 0, 1.0), of("a", 1, 1.0)]
            => "expression 1: name: is equal to that of element 0";
    ] {
        let made = character.clone().with_expressions(expressions);
        made.fails_in(case, message);
    }
    let other = character.with_expressions(vec![of("a", 0, 1.0)]).unwrap();
    assert_eq!(morphs(&other, "a"), [(0, 1.0)]);
}
