//! Morph targets and weights that are read.

use crate::builder::*;
use crate::help::*;
use serde_json::{Value, json};
use throng::clip::{Interpolation, WeightTrack};
use throng::glam::Vec3;
use throng::import::{Imported, RepairKind};

/// A flat quad of four corners on node 0, a metre wide, with normals.
pub(crate) fn quad() -> Builder {
    let mut b = Builder::default();
    let corners = [0, 1, 2, 3].map(|c| [(c % 2) as f32, (c / 2) as f32, 0.0]);
    let position = b.accessor("VEC3", F32, &corners.concat());
    let normal = b.accessor("VEC3", F32, &[[0.0, 0.0, 1.0_f32]; 4].concat());
    let indices = b.accessor("SCALAR", U8, &[0_u8, 1, 2, 2, 1, 3]);
    b.json["meshes"] = json!([{ "name": "Quad", "primitives": [{
        "attributes": { "POSITION": position, "NORMAL": normal }, "indices": indices }] }]);
    b.json["nodes"] = json!([{ "mesh": 0 }]);
    b.json["scenes"] = json!([{ "nodes": [0] }]);
    b
}

/// The quad with these targets.
pub(crate) fn with_targets(mut b: Builder, targets: Value) -> Builder {
    b.json["meshes"][0]["primitives"][0]["targets"] = targets;
    b
}

/// An accessor without a view. Its elements are zero, except these.
pub(crate) fn sparse(b: &mut Builder, count: usize, places: &[u8], values: &[f32]) -> usize {
    let (indices, values) = (b.view(places), b.view(values));
    b.add(
        "accessors",
        json!({ "componentType": F32, "type": "VEC3", "count": count,
            "sparse": { "count": places.len(),
                "indices": { "bufferView": indices, "componentType": U8 },
                "values": { "bufferView": values } } }),
    )
}

/// A clip of one weights channel on node 0.
pub(crate) fn with_clip(b: &mut Builder, times: &[f32], values: &[f32], interpolation: &str) {
    let times = b.accessor("SCALAR", F32, times);
    let values = b.accessor("SCALAR", F32, values);
    b.json["animations"] = json!([{ "name": "Grin",
        "samplers": [{ "input": times, "output": values, "interpolation": interpolation }],
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }] }]);
}

fn rests(c: &Imported) -> Vec<f32> {
    c.morph_weights().iter().map(|w| w.rest).collect()
}

#[test]
fn only_vertices_that_move_are_kept() {
    let mut b = quad();
    let up = sparse(&mut b, 4, &[1, 3], &[0.0, 0.0, 2.0, 0.0, 0.0, 3.0]);
    let mut turns = [0.0_f32; 12];
    turns[2 * 3] = 0.5;
    turns[3] = -0.0;
    let turns = b.accessor("VEC3", F32, &turns);
    let nothing = b.add(
        "accessors",
        json!({ "componentType": F32, "type": "VEC3", "count": 4 }),
    );
    let c = import(&with_targets(
        b,
        json!([{ "POSITION": up, "NORMAL": turns }, { "POSITION": nothing }, { "NORMAL": turns }, {}]),
    ));
    let targets = &c.primitives()[0].targets;
    assert_eq!(targets[0].vertices, [1, 2, 3]);
    assert_eq!(
        targets[0].positions,
        [Vec3::Z * 2.0, Vec3::ZERO, Vec3::Z * 3.0]
    );
    assert_eq!(targets[0].normals, [Vec3::ZERO, Vec3::X * 0.5, Vec3::ZERO]);
    assert_eq!(targets[2].vertices, [2]);
    assert_eq!(
        (&targets[2].positions, &targets[2].normals),
        (&vec![Vec3::ZERO], &vec![Vec3::X * 0.5])
    );
    for empty in [&targets[1], &targets[3]] {
        assert!(empty.vertices.is_empty() && empty.positions.is_empty());
    }
    assert!(targets.iter().all(|target| target.tangents.is_empty()));
    assert_eq!(c.repairs, []);
}

#[test]
fn sparse_values_stand_over_the_views() {
    let mut b = quad();
    let base: Vec<f32> = (1..=12).map(|v| v as f32).collect();
    let over = sparse(&mut b, 4, &[2], &[0.0, 0.0, 0.0]);
    let view = b.view(&base);
    b.json["accessors"][over]["bufferView"] = json!(view);
    let c = import(&with_targets(b, json!([{ "POSITION": over }])));
    let target = &c.primitives()[0].targets[0];
    assert_eq!(target.vertices, [0, 1, 3]);
    assert_eq!(target.positions[2], Vec3::new(10.0, 11.0, 12.0));
}

#[test]
fn quantised_targets_are_read() {
    let mut b = quad();
    b.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    let bytes = b.accessor("VEC3", I8, &[0_i8, 0, 0, 1, -2, 3, 0, 0, 0, 0, 0, 0]);
    let shorts = b.normalized("VEC3", I16, &[[32767_i16, 0, -32768]; 4].concat());
    let c = import(&with_targets(
        b,
        json!([{ "POSITION": bytes }, { "POSITION": shorts, "NORMAL": shorts }]),
    ));
    let targets = &c.primitives()[0].targets;
    assert_eq!(targets[0].vertices, [1]);
    assert_eq!(targets[0].positions, [Vec3::new(1.0, -2.0, 3.0)]);
    assert_eq!(targets[1].positions[3], Vec3::new(1.0, 0.0, -1.0));
    assert_eq!(targets[1].positions, targets[1].normals);
}

#[test]
fn weights_come_from_the_node_or_the_mesh() {
    let mut b = quad();
    let up = sparse(&mut b, 4, &[1], &[0.0, 0.0, 2.0]);
    let mut b = with_targets(b, json!([{ "POSITION": up }, { "POSITION": up }]));
    b.json["meshes"][0]["extras"] = json!({ "targetNames": ["smile", 3, "more"], "other": [[{}]] });
    assert_eq!(rests(&import(&b)), [0.0, 0.0]);
    b.json["meshes"][0]["weights"] = json!([0.25, 0.5]);
    b.json["nodes"] = json!([
        { "mesh": 0, "name": "left" }, { "mesh": 0, "weights": [1, -1] }, { "mesh": 0 }]);
    b.json["scenes"] = json!([{ "nodes": [1, 0] }]);
    let c = import(&b);
    assert_eq!(rests(&c), [0.25, 0.5, 1.0, -1.0]);
    let names = c.morph_weights().iter().map(|w| (&*w.name, &*w.owner));
    let expected = [
        ("smile", "left"),
        ("", "left"),
        ("smile", "Quad"),
        ("", "Quad"),
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    assert_eq!(c.morph_weight("smile").unwrap().index(), 0);
    assert!(c.morph_weight("frown").is_err());
    let firsts: Vec<_> = c
        .primitives()
        .iter()
        .map(|p| p.first_weight.index())
        .collect();
    assert_eq!(firsts, [0, 2]);
    // At rest, the second stands 2 m up.
    assert_eq!(c.rest_bounds().max.z, 1.5);
    assert_eq!(c.rest_bounds().min.z, 0.0);
    for odd in [
        json!(7),
        json!(["a"]),
        json!({ "targetNames": { "0": "a" } }),
        json!(null),
    ] {
        b.json["meshes"][0]["extras"] = odd;
        assert!(import(&b).morph_weights().iter().all(|w| w.name.is_empty()));
    }
}

#[test]
fn what_targets_do_to_other_attributes_is_left_out() {
    let mut b = quad();
    let up = sparse(&mut b, 4, &[1], &[0.0, 0.0, 2.0]);
    b.json["meshes"][0]["primitives"][0]["attributes"]
        .as_object_mut()
        .unwrap()
        .remove("NORMAL");
    let c = import(&with_targets(
        b,
        json!([{ "POSITION": up, "TEXCOORD_0": 0, "COLOR_0": 0 },
               { "POSITION": up, "NORMAL": up, "TANGENT": up }]),
    ));
    told(
        &c,
        &[
            "mesh 0, primitives[0].targets (attributes other than POSITION, NORMAL, TANGENT): \
             left out, because it is not supported (2)",
            "mesh 0, primitives[0].targets (NORMAL, which the primitive does not have): left \
             out, because it is not supported (1)",
            "mesh 0, primitives[0].targets (TANGENT, which the primitive does not have): left \
             out, because it is not supported (1)",
        ],
    );
    assert!(c.primitives()[0].targets[1].normals.is_empty());
}

#[test]
fn vertices_that_morph_apart_are_not_merged() {
    // Two triangles with an edge in common, all six corners spelled out.
    let mut b = triangle();
    let corners = [[0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]];
    let corners = corners.map(|[x, y]| [x as f32, y as f32, 0.0]).concat();
    let position = b.accessor("VEC3", F32, &corners);
    b.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(position);
    let count = |b: &Builder, targets: Value| {
        let c = import(&with_targets(b.clone(), targets));
        let primitive = &c.primitives()[0];
        for target in &primitive.targets {
            assert!(target.vertices.is_sorted_by(|a, b| a < b));
            let last = target.vertices.last().map_or(0, |v| *v as usize);
            assert!(last < primitive.vertex_count());
        }
        (primitive.vertex_count(), primitive.targets.clone())
    };
    assert_eq!(count(&b, json!([])).0, 4);
    // 1 and 4, and 2 and 3, coincide.
    let same = sparse(&mut b, 6, &[1, 4], &[0.0, 0.0, 1.0, -0.0, 0.0, 1.0]);
    let (vertices, targets) = count(&b, json!([{ "POSITION": same }]));
    assert_eq!((vertices, &targets[0].vertices[..]), (4, &[1][..]));
    let other = sparse(&mut b, 6, &[1, 4], &[0.0, 0.0, 1.0, 0.0, 0.0, 2.0]);
    let (vertices, targets) = count(&b, json!([{ "POSITION": same }, { "POSITION": other }]));
    assert_eq!(vertices, 5);
    assert_eq!(targets[1].positions, [Vec3::Z, Vec3::Z * 2.0]);
    // One vertex of a pair moves alone. Another target moves the other one alike.
    let first = sparse(&mut b, 6, &[2], &[0.0, 0.0, 1.0]);
    let second = sparse(&mut b, 6, &[3], &[0.0, 0.0, 1.0]);
    assert_eq!(
        count(&b, json!([{ "POSITION": first }, { "POSITION": second }])).0,
        5
    );
    // A target that only turns normals says nothing where there are none.
    assert_eq!(count(&b, json!([{ "NORMAL": other }])).0, 4);
}

#[test]
fn targets_of_vertices_that_are_not_drawn_are_dropped() {
    let mut b = quad();
    let all = b.accessor("VEC3", F32, &[1.0_f32; 12]);
    let indices = b.accessor("SCALAR", U8, &[3_u8, 1, 2]);
    b.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
    let c = import(&with_targets(b, json!([{ "POSITION": all }])));
    assert_eq!(c.primitives()[0].targets[0].vertices, [0, 1, 2]);
}

fn tracks(interpolation: &str, times: &[f32], values: &[f32]) -> (Vec<WeightTrack>, Imported) {
    let mut b = quad();
    let up = sparse(&mut b, 4, &[1], &[0.0, 0.0, 2.0]);
    let mut b = with_targets(b, json!([{ "POSITION": up }, { "POSITION": up }]));
    with_clip(&mut b, times, values, interpolation);
    let c = import(&b);
    assert_eq!(c.curves()[0].tracks(), []);
    (c.curves()[0].weight_tracks().to_vec(), c)
}

#[test]
fn weights_channels_are_read() {
    for (name, interpolation, per_key) in [
        ("STEP", Interpolation::Step, 1),
        ("LINEAR", Interpolation::Linear, 1),
        ("CUBICSPLINE", Interpolation::CubicSpline, 3),
    ] {
        let values: Vec<f32> = (0..4 * per_key).map(|v| v as f32).collect();
        let (tracks, c) = tracks(name, &[0.5, 2.0], &values);
        let [track] = &tracks[..] else {
            panic!("{tracks:?}");
        };
        assert_eq!((track.first_weight.index(), track.count), (0, 2));
        assert_eq!(track.keys.interpolation, interpolation);
        assert_eq!(track.keys.values, values);
        assert_eq!(
            (c.curves()[0].start_s(), c.curves()[0].duration_s()),
            (0.5, 2.0)
        );
        assert_eq!(c.repairs, []);
    }
}

#[test]
fn weight_keys_at_equal_times_jump() {
    let (tracks, c) = tracks(
        "LINEAR",
        &[0.0, 1.0, 1.0, 1.0],
        &[0., 1., 2., 3., 4., 5., 6., 7.],
    );
    told(&c, &["animation 0: keys with equal times separated (2)"]);
    assert_eq!(tracks[0].keys.times_s, [0.0, 1.0_f32.next_down(), 1.0]);
    assert_eq!(tracks[0].keys.values, [0., 1., 2., 3., 6., 7.]);
}

#[test]
fn weights_of_what_is_not_drawn_are_left_out() {
    let mut b = quad();
    let up = sparse(&mut b, 4, &[1], &[0.0, 0.0, 2.0]);
    let mut b = with_targets(b, json!([{ "POSITION": up }]));
    with_clip(&mut b, &[0.0], &[1.0], "LINEAR");
    b.json["nodes"] = json!([{ "mesh": 0 }, { "mesh": 0 }]);
    b.json["scenes"] = json!([{ "nodes": [1] }]);
    let c = import(&b);
    assert!(has(&c, RepairKind::LeftOut, 1));
    assert_eq!(c.morph_weights().len(), 1);
    assert_eq!(c.curves()[0].weight_tracks(), []);
    c.repairs[0]
        .to_string()
        .says("…weights that drive nothing…");
}
