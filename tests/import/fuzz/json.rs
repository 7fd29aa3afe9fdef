//! Mutants by their JSON: replaced and removed values, and documents that are deep or long.

use super::invariants::digest;
use super::mutants::{Random, factor};
use super::seeds::everything;
use crate::builder::{Builder, arm, glb, triangle};
use crate::reference::sweep::rounds;
use serde_json::{Value, json};

/// The values that replace every value of the JSON in turn.
fn substitutes() -> Vec<Value> {
    vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(2),
        json!(3),
        json!(255),
        json!(65_535),
        json!(4_294_967_295_u64),
        json!(4_000_000_000_u64),
        json!(u64::MAX),
        json!(u64::MAX - 3),
        json!(i64::MIN),
        json!(0.5),
        json!(-0.0),
        json!(1e39),
        json!(1e308),
        json!(-1e38),
        json!(1e-45),
        json!(null),
        json!(true),
        json!(""),
        json!("x"),
        json!("../x"),
        json!([]),
        json!({}),
        json!([0]),
        json!([0, 0, 0]),
        json!([0, 0, 0, 0]),
        json!([1e38, 1e38, 1e38]),
    ]
}

/// The paths to all values of a document.
fn paths(value: &Value, at: &str, out: &mut Vec<String>) {
    if !at.is_empty() {
        out.push(at.to_owned());
    }
    match value {
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                paths(value, &format!("{at}/{index}"), out);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                paths(value, &format!("{at}/{key}"), out);
            }
        }
        _ => {}
    }
}

/// Replaces every value of the document by every substitute, and removes it.
fn substitute_all(b: &Builder) {
    let mut base = b.json.clone();
    base["buffers"] = json!([{ "byteLength": b.bin.len() }]);
    let mut all = Vec::new();
    paths(&base, "", &mut all);
    let (mut good, mut bad) = (0, 0);
    for path in &all {
        for substitute in substitutes() {
            let mut json = base.clone();
            *json.pointer_mut(path).unwrap() = substitute;
            let text = json.to_string();
            *(if digest(&glb(text.as_bytes(), Some(&b.bin))) {
                &mut good
            } else {
                &mut bad
            }) += 1;
        }
        let (parent, key) = path.rsplit_once('/').unwrap();
        let mut json = base.clone();
        match json.pointer_mut(parent).unwrap() {
            Value::Object(map) => drop(map.remove(key)),
            Value::Array(list) => drop(list.remove(key.parse::<usize>().unwrap())),
            _ => unreachable!(),
        }
        digest(&glb(json.to_string().as_bytes(), Some(&b.bin)));
    }
    assert!(good > 100 && bad > 100, "{good} imported, {bad} refused");
}

#[test]
fn substituted_values_never_panic() {
    substitute_all(&everything());
    substitute_all(&arm());
}

#[test]
fn pairs_of_substituted_values_never_panic() {
    let b = everything();
    let mut base = b.json.clone();
    base["buffers"] = json!([{ "byteLength": b.bin.len() }]);
    let mut all = Vec::new();
    paths(&base, "", &mut all);
    let substitutes = substitutes();
    let mut random = Random::new(3);
    for _ in 0..rounds(6000) * factor() {
        let mut json = base.clone();
        for _ in 0..2 + random.below(2) {
            let path = &all[random.below(all.len())];
            let value = match random.below(3) {
                // Another value of the same document keeps the form and changes the meaning.
                0 => base
                    .pointer(&all[random.below(all.len())])
                    .cloned()
                    .unwrap(),
                1 => json!(random.below(12)),
                _ => substitutes[random.below(substitutes.len())].clone(),
            };
            if let Some(place) = json.pointer_mut(path) {
                *place = value;
            }
        }
        digest(&glb(json.to_string().as_bytes(), Some(&b.bin)));
    }
}

#[test]
fn deep_and_long_json_is_refused_or_skipped() {
    let deep = "[".repeat(1_000_000);
    assert!(!digest(deep.as_bytes()));
    let skipped = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut file = String::from_utf8(triangle().gltf()).unwrap();
    file.insert_str(1, &format!("\"extras\":{skipped},"));
    digest(file.as_bytes());
    let file = String::from_utf8(triangle().gltf()).unwrap();
    let targets = format!("\"primitives\":[{{\"targets\":{skipped},");
    let file = file.replace("\"primitives\":[{", &targets);
    assert!(file.len() > 200_000);
    digest(file.as_bytes());
    let many = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"nodes\":[{}{{}}]}}",
        "{},".repeat(300_000)
    );
    assert!(!digest(many.as_bytes()));
}
