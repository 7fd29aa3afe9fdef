//! Files whose parts multiply: what instances share is stored once, and the rest is refused before
//! it is allocated.

use crate::ascii::{CUBIC, File, LINEAR, arm, list, moved};
use crate::counting::{measure, peak_bytes};
use throng::import::{ImportLimits, ImportOptions, Imported};
use throng_reference::words::Says;

/// Imports a file. Also returns the peak of bytes, without those of ufbx, which is C code.
fn import(file: &File, options: &ImportOptions) -> (usize, throng::Result<Imported>) {
    let text = file.text().into_bytes();
    let _measurement = measure();
    peak_bytes(|| throng_import::bytes(&text, options))
}

fn options() -> ImportOptions {
    ImportOptions {
        name: "f.fbx".into(),
        ..ImportOptions::curves_only()
    }
}

/// The error of a file that is refused within 64 MiB.
#[track_caller]
fn refused(file: &File, options: &ImportOptions) -> String {
    let (bytes, result) = import(file, options);
    let words = result.expect_err("it was imported").to_string();
    assert!(bytes < 64 << 20, "{bytes} bytes: {words}");
    words
}

/// A triangle on this many nodes. Returns its geometry.
fn triangle(file: &mut File, nodes: usize) -> u64 {
    let body = format!(
        "Vertices: {}\nPolygonVertexIndex: {}\nGeometryVersion: 124",
        list(&[0, 0, 0, 10, 0, 0, 0, 0, 10]),
        list(&[0, 1, -3])
    );
    let geometry = file.object("Geometry", "Geometry::Triangle", "Mesh", &body);
    for number in 0..nodes {
        let at = [number as f64 * 20.0, 0.0, 0.0];
        let name = format!("Node{number}");
        let node = file.node(&name, "Mesh", 0, &[("Lcl Translation", at)]);
        file.connect(geometry, node);
    }
    geometry
}

/// A skin of this many clusters. Vertex 0 has no weights if it is not `whole`.
fn skin(file: &mut File, geometry: u64, clusters: usize, whole: bool) {
    let deformer = file.object("Deformer", "Deformer::", "Skin", "Version: 101");
    file.connect(deformer, geometry);
    let root = file.node("Root", "LimbNode", 0, &[]);
    for number in 0..clusters {
        let bone = file.node(&format!("Bone{number}"), "LimbNode", root, &[]);
        let vertices = u32::from(!whole)..3;
        let weights: Vec<(u32, f64)> = match number {
            0 => vertices.map(|vertex| (vertex, 1.0)).collect(),
            // A vertex has at most 256 influences.
            1..200 => vec![(1, 0.001)],
            _ => Vec::new(),
        };
        file.cluster(deformer, bone, &weights, moved([0.; 3]), moved([0.; 3]));
    }
}

/// A channel of a mesh with one shape for each of these weights, in percent.
fn channel(file: &mut File, shapes: u64, name: &str, full_weights: &[u32]) -> u64 {
    let body = format!(
        "Version: 100\nDeformPercent: 0\nFullWeights: {}",
        list(full_weights)
    );
    let name = format!("SubDeformer::{name}");
    let channel = file.object("Deformer", &name, "BlendShapeChannel", &body);
    file.connect(channel, shapes);
    for _ in full_weights {
        let body = format!("Indexes: {}\nVertices: {}", list(&[1]), list(&[20, 0, 0]));
        let shape = file.object("Geometry", "Geometry::shape", "Shape", &body);
        file.connect(shape, channel);
    }
    channel
}

fn blend_shapes(file: &mut File, geometry: u64) -> u64 {
    let shapes = file.object("Deformer", "Deformer::", "BlendShape", "Version: 100");
    file.connect(shapes, geometry);
    shapes
}

const PERCENT: (&str, &str) = ("DeformPercent", "d|DeformPercent");

#[test]
fn instances_share_the_clusters_of_a_skin() {
    for whole in [true, false] {
        let mut file = File::new();
        let geometry = triangle(&mut file, 1000);
        skin(&mut file, geometry, 1000, whole);
        let (bytes, result) = import(&file, &options());
        let c = result.unwrap();
        // A copy of the clusters for each node would take 72 MB. 16 MB were measured, most of them
        // for names and objects.
        println!("{bytes} bytes for a thousand instances");
        assert!(bytes < 32 << 20, "{bytes} bytes");
        assert_eq!((c.primitives().len(), c.skins().len()), (1000, 1));
        // Only a vertex without weights follows the node of its instance.
        let last = c.palette_range(&c.primitives()[999]);
        let names = c.palette()[last].iter();
        let names = names.map(|entry| &*c.skeleton().joints()[entry.joint.index()].name);
        let follows = names.into_iter().any(|name| name == "Node999");
        assert_eq!(follows, !whole);
    }
}

#[test]
fn meshes_share_a_deformer() {
    let mut file = File::new();
    let geometries = [triangle(&mut file, 1), triangle(&mut file, 1)];
    skin(&mut file, geometries[0], 3, true);
    let deformer = file.objects.find(", \"Deformer::\", \"Skin\"").unwrap();
    let start = file.objects[..deformer].rfind(' ').unwrap() + 1;
    let deformer = file.objects[start..deformer].parse().unwrap();
    file.connect(deformer, geometries[1]);
    let c = import(&file, &options()).1.unwrap();
    let skins: Vec<usize> = c.skins().map(|(_, joints)| joints.len()).collect();
    assert_eq!((c.primitives().len(), skins), (2, vec![3]));
}

#[test]
fn weights_over_time_are_charged_before_they_are_sampled() {
    // 600 channels with 200 keys each, all at other times: 120,000 times 600 weights.
    let mut file = File::new();
    let geometry = triangle(&mut file, 1);
    let shapes = blend_shapes(&mut file, geometry);
    let take = file.take("Take", 0.0, 200.0);
    for number in 0..600 {
        let channel = channel(&mut file, shapes, &format!("c{number}"), &[100]);
        let key = |key: u32| {
            (
                f64::from(key) + f64::from(number) / 600.0,
                f64::from(key % 2),
            )
        };
        let keys: Vec<(f64, f64)> = (0..200).map(key).collect();
        file.curve(take, (channel, PERCENT.0, PERCENT.1), &keys, LINEAR);
    }
    let options = ImportOptions {
        limits: ImportLimits {
            decoded_bytes: 256 << 20,
            ..ImportLimits::default()
        },
        ..options()
    };
    let words = refused(&file, &options);
    let start = "f.fbx: animation 0, weights of node 0: bytes of decoded data: ";
    words.says(format!("{start}…"));
    words.says("… exceeds the limit of 268435456");
}

#[test]
fn times_between_shapes_are_counted_before_they_are_computed() {
    // 2,000 keys that pass 500 shapes each.
    let mut file = File::new();
    let geometry = triangle(&mut file, 1);
    let shapes = blend_shapes(&mut file, geometry);
    let full: Vec<u32> = (1..=500).collect();
    let channel = channel(&mut file, shapes, "many", &full);
    let take = file.take("Take", 0.0, 2000.0);
    let key = |key: u32| (f64::from(key), f64::from(key % 2) * 500.0);
    let keys: Vec<(f64, f64)> = (0..2000).map(key).collect();
    file.curve(take, (channel, PERCENT.0, PERCENT.1), &keys, LINEAR);
    let options = ImportOptions {
        limits: ImportLimits {
            keys: 100_000,
            ..ImportLimits::default()
        },
        ..options()
    };
    let words = refused(&file, &options);
    let start = "f.fbx: animation 0, weights of node 0: keys: ";
    words.says(format!("{start}…"));
    words.says("… exceeds the limit of 100000");
}

#[test]
fn instances_of_morphed_meshes_are_charged() {
    let long = "n".repeat(190);
    let mut file = File::new();
    let geometry = triangle(&mut file, 400);
    let shapes = blend_shapes(&mut file, geometry);
    let mut first = 0;
    for number in 0..200 {
        first = channel(&mut file, shapes, &format!("{number}{long}"), &[100]);
    }
    let take = file.take("Take", 0.0, 3.0);
    let keys: Vec<(f64, f64)> = (0..90).map(|key| (f64::from(key) / 30.0, 1.0)).collect();
    file.curve(take, (first, PERCENT.0, PERCENT.1), &keys, LINEAR);
    let small = ImportOptions {
        limits: ImportLimits {
            decoded_bytes: 16 << 20,
            ..ImportLimits::default()
        },
        ..options()
    };
    let words = refused(&file, &small);
    let start = "f.fbx: mesh 0: bytes of decoded data: ";
    words.says(format!("{start}…"));
    let few = ImportOptions {
        limits: ImportLimits {
            morph_targets: 79_999,
            ..ImportLimits::default()
        },
        ..options()
    };
    let words = refused(&file, &few);
    let why = "f.fbx: mesh 0: morph weights: 80000 exceeds the limit of 79999";
    assert_eq!(words, why);
}

#[test]
fn channels_without_shapes_are_counted_too() {
    let mut file = File::new();
    let geometry = triangle(&mut file, 1000);
    let shapes = blend_shapes(&mut file, geometry);
    for _ in 0..1000 {
        channel(&mut file, shapes, "empty", &[]);
    }
    let words = refused(&file, &options());
    let why = "f.fbx: mesh 0: morph weights: 1000000 exceeds the limit of 262144";
    assert_eq!(words, why);
}

#[test]
fn samples_beside_the_keys_are_counted_before_they_are_computed() {
    let (mut file, numbers) = arm();
    let take = file.take("Years", 0.0, 1e8);
    let keys = [(0.0, 0.0), (1.0, 50.0)];
    let curve = (numbers.base, "Lcl Translation", "d|X");
    file.curve(take, curve, &keys, CUBIC);
    crate::takes::repeat_the_last_curve(&mut file);
    let words = refused(&file, &options());
    let start = "f.fbx: animation 2, curves of node 0: keys: ";
    words.says(format!("{start}…"));
}
