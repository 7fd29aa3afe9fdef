//! Geometric transforms, which apply to the meshes of a node and not to its children.
//!
//! Blend shapes with their normals, tangents and the order of corners follow them.

use crate::arm::import;
use crate::ascii::{File, LINEAR, arm, list};
use crate::oracle::{agrees, posed};
use throng::glam::{DAffine3, DQuat, DVec3};
use throng::import::Imported;
use throng::mesh::Primitive;

/// The largest difference of a coordinate or a component that is due to rounding to `f32`.
const TOLERANCE: f64 = 1e-5;

/// The properties of a geometric transform.
#[derive(Clone, Copy)]
struct Geometric {
    translation: [f64; 3],
    /// Euler angles in degrees, about X first.
    rotation: [f64; 3],
    scaling: [f64; 3],
}

const TURNED: Geometric = Geometric {
    translation: [5.0, -20.0, 10.0],
    rotation: [20.0, 90.0, -35.0],
    scaling: [1.0; 3],
};
const STRETCHED: Geometric = Geometric {
    translation: [0.0; 3],
    rotation: [40.0, -25.0, 110.0],
    scaling: [3.0, 0.5, 1.25],
};
const MIRRORED: Geometric = Geometric {
    scaling: [-2.0, 0.75, 1.0],
    ..TURNED
};

impl Geometric {
    fn properties(&self) -> [(&'static str, [f64; 3]); 3] {
        [
            ("GeometricTranslation", self.translation),
            ("GeometricRotation", self.rotation),
            ("GeometricScaling", self.scaling),
        ]
    }

    fn affine(&self) -> DAffine3 {
        let [x, y, z] = self.rotation.map(f64::to_radians);
        let turn = DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y);
        DAffine3::from_scale_rotation_translation(
            self.scaling.into(),
            turn * DQuat::from_rotation_x(x),
            self.translation.into(),
        )
    }
}

/// The corners of a pyramid, in centimetres.
const CORNERS: [[f64; 3]; 4] = [[0., 0., 0.], [30., 0., 0.], [0., 40., 0.], [0., 0., 50.]];
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
/// The changes of corners 1 and 3 by the two shapes of the channel.
const SHAPES: [[[f64; 3]; 2]; 2] = [
    [[10., 5., -5.], [0., 20., 10.]],
    [[0., -10., 30.], [5., 0., -20.]],
];
/// The changes of the normals of these corners.
const BENDS: [[[f64; 3]; 2]; 2] = [
    [[0.1, -0.4, 0.2], [0.3, 0.3, 0.0]],
    [[-0.5, 0.2, 0.1], [0.0, 0.25, -0.5]],
];

/// The normal of a face, and the direction of its first edge.
fn frame(face: [usize; 3]) -> [DVec3; 2] {
    let [a, b, c] = face.map(|corner| DVec3::from_array(CORNERS[corner]));
    [(b - a).cross(c - a).normalize(), (b - a).normalize()]
}

/// A layer with one vector for each corner of each face.
fn layer(kind: &str, list_name: &str, vectors: &[DVec3]) -> String {
    let numbers: Vec<f64> = vectors.iter().flat_map(DVec3::to_array).collect();
    format!(
        "{kind}: 0 {{\nVersion: 101\nName: \"\"\nMappingInformationType: \"ByPolygonVertex\"\n\
         ReferenceInformationType: \"Direct\"\n{list_name}: {}\n}}",
        list(&numbers)
    )
}

/// A pyramid with normals, tangents and a channel of two shapes, at 50 % and 100 %. In centimetres,
/// with +Y up. Returns the numbers of the geometry and the channel.
fn pyramid(percent: f64) -> (File, u64, u64) {
    let mut file = File::with_axes(1, 2, 1, 1.0);
    let frames = FACES.map(frame);
    let each = |of: &dyn Fn(&[DVec3; 2]) -> DVec3| -> Vec<DVec3> {
        frames.iter().flat_map(|frame| [of(frame); 3]).collect()
    };
    let corners = FACES.map(|[a, b, c]| [a as i64, b as i64, -(c as i64) - 1]);
    let uvs: Vec<f64> = [[0., 0.], [1., 0.], [0., 1.]].concat().repeat(4);
    let uvs = format!(
        "LayerElementUV: 0 {{\nVersion: 101\nName: \"map1\"\n\
         MappingInformationType: \"ByPolygonVertex\"\nReferenceInformationType: \"Direct\"\n\
         UV: {}\n}}",
        list(&uvs)
    );
    let kinds = ["Normal", "Tangent", "Binormal", "UV"];
    let layers = kinds
        .map(|kind| format!("LayerElement: {{\nType: \"LayerElement{kind}\"\nTypedIndex: 0\n}}\n"));
    let body = format!(
        "Vertices: {}\nPolygonVertexIndex: {}\nGeometryVersion: 124\n{}\n{}\n{}\n{uvs}\n\
         Layer: 0 {{\nVersion: 100\n{}}}",
        list(CORNERS.as_flattened()),
        list(corners.as_flattened()),
        layer("LayerElementNormal", "Normals", &each(&|f| f[0])),
        layer("LayerElementTangent", "Tangents", &each(&|f| f[1])),
        layer(
            "LayerElementBinormal",
            "Binormals",
            &each(&|f| f[0].cross(f[1]))
        ),
        layers.concat()
    );
    let geometry = file.object("Geometry", "Geometry::Pyramid", "Mesh", &body);
    let shapes = file.object("Deformer", "Deformer::", "BlendShape", "Version: 100");
    file.connect(shapes, geometry);
    let body = format!("Version: 100\nDeformPercent: {percent}\nFullWeights: *2 {{ a: 50,100 }}");
    let channel = file.object("Deformer", "SubDeformer::wide", "BlendShapeChannel", &body);
    file.connect(channel, shapes);
    for (shape, bends) in SHAPES.iter().zip(&BENDS) {
        let body = format!(
            "Indexes: {}\nVertices: {}\nNormals: {}",
            list(&[1, 3]),
            list(shape.as_flattened()),
            list(bends.as_flattened())
        );
        let shape = file.object("Geometry", "Geometry::", "Shape", &body);
        file.connect(shape, channel);
    }
    (file, geometry, channel)
}

/// A vertex in metres, its normal and its tangent.
type Vertex = [DVec3; 3];

/// The corners of all faces under a geometric transform, with these weights of the two shapes.
fn expected(by: &Geometric, weights: [f64; 2]) -> Vec<[Vertex; 3]> {
    let affine = by.affine();
    let normals = affine.matrix3.inverse().transpose();
    let corner = |corner: usize, [normal, tangent]: [DVec3; 2]| {
        let mut at = DVec3::from_array(CORNERS[corner]);
        let mut normal = normal;
        if let Some(changed) = [1, 3].iter().position(|other| *other == corner) {
            for (shape, weight) in weights.into_iter().enumerate() {
                at += weight * DVec3::from_array(SHAPES[shape][changed]);
                normal += weight * DVec3::from_array(BENDS[shape][changed]);
            }
        }
        [
            affine.transform_point3(at) * 0.01,
            (normals * normal).normalize(),
            (affine.matrix3 * tangent).normalize(),
        ]
    };
    let faces = FACES.iter();
    faces
        .map(|face| face.map(|at| corner(at, frame(*face))))
        .collect()
}

/// A vertex of a primitive, with its shapes at these weights.
fn morphed(primitive: &Primitive, vertex: usize, weights: &[f32]) -> Vertex {
    let mut at = primitive.positions[vertex].as_dvec3();
    let mut normal = primitive.normals[vertex].as_dvec3();
    for (target, weight) in primitive.targets.iter().zip(weights) {
        if let Ok(index) = target.vertices.binary_search(&(vertex as u32)) {
            at += target.positions[index].as_dvec3() * f64::from(*weight);
            let change = target.normals.get(index).copied().unwrap_or_default();
            normal += change.as_dvec3() * f64::from(*weight);
        }
    }
    let tangent = primitive.tangents[vertex].truncate().as_dvec3();
    [at, normal.normalize(), tangent]
}

/// Asserts that the only primitive has these faces.
#[track_caller]
fn is_pyramid(c: &Imported, primitive: &Primitive, by: &Geometric, weights: [f64; 2]) {
    let rest: Vec<f32> = c.morph_weights().iter().map(|weight| weight.rest).collect();
    let first = primitive.first_weight.index();
    let weights_f32 = weights.map(|weight| weight as f32);
    assert_eq!(rest[first..first + 2], weights_f32);
    let faces: Vec<[Vertex; 3]> = primitive
        .indices
        .as_chunks::<3>()
        .0
        .iter()
        .map(|face| face.map(|vertex| morphed(primitive, vertex as usize, &weights_f32)))
        .collect();
    assert_eq!(faces.len(), FACES.len());
    let near = |a: &Vertex, b: &Vertex| a.iter().zip(b).all(|(a, b)| a.distance(*b) < TOLERANCE);
    for face in expected(by, weights) {
        let found = faces.iter().any(|other| {
            let mut same = face.iter().map(|a| other.iter().any(|b| near(a, b)));
            same.all(|same| same)
        });
        assert!(found, "{face:?} is not in {faces:?}");
    }
    // Faces are counter-clockwise from where their normals point, and frames are as handed as the
    // file's under the transform.
    let mirrored = by.affine().matrix3.determinant() < 0.0;
    for face in primitive.indices.as_chunks::<3>().0 {
        let [a, b, c] = face.map(|vertex| primitive.positions[vertex as usize]);
        let normal = primitive.normals[face[0] as usize];
        assert!((b - a).cross(c - a).dot(normal) > 0.0);
        let sign = primitive.tangents[face[0] as usize].w;
        assert_eq!(sign, if mirrored { -1.0 } else { 1.0 });
    }
}

fn on_node(percent: f64, by: &Geometric) -> File {
    let (mut file, geometry, _) = pyramid(percent);
    let node = file.node("Pyramid", "Mesh", 0, &by.properties());
    file.connect(geometry, node);
    file
}

#[test]
fn shapes_and_their_normals_follow() {
    for by in [TURNED, STRETCHED, MIRRORED] {
        // 25 % is half of the first shape, 75 % half of each, and 120 % is beyond the last.
        for (percent, weights) in [
            (0.0, [0.0, 0.0]),
            (25.0, [0.5, 0.0]),
            (75.0, [0.5, 0.5]),
            (100.0, [0.0, 1.0]),
        ] {
            let c = import(&on_node(percent, &by));
            is_pyramid(&c, &c.primitives()[0], &by, weights);
        }
    }
}

/// The faces of each node have its own transform. No node is added for it.
#[test]
fn each_node_with_the_mesh_has_its_own() {
    let (mut file, geometry, _) = pyramid(75.0);
    let all = [TURNED, STRETCHED, MIRRORED];
    for (number, by) in all.iter().enumerate() {
        let node = file.node(&format!("{number}"), "Mesh", 0, &by.properties());
        file.connect(geometry, node);
    }
    let c = import(&file);
    for (primitive, by) in c.primitives().iter().zip(&all) {
        is_pyramid(&c, primitive, by, [0.5, 0.5]);
    }
    let names: Vec<&str> = c.skeleton().joints().iter().map(|j| &*j.name).collect();
    assert_eq!(names, ["0", "1", "2"]);
}

/// ufbx moves the mesh and its transform to another node here.
#[test]
fn below_a_scale_that_children_do_not_inherit() {
    let (mut file, geometry, _) = pyramid(75.0);
    let mut properties = STRETCHED.properties().to_vec();
    properties.push(("Lcl Scaling", [2.0, 1.0, 1.0]));
    let node = file.node("Pyramid", "Mesh", 0, &properties);
    file.connect(geometry, node);
    file.node("Child", "Null", node, &[]);
    let at = file.objects.rfind("Properties70: {").unwrap() + "Properties70: {".len();
    file.objects
        .insert_str(at, "\nP: \"InheritType\", \"enum\", \"\", \"\",2");
    let c = import(&file);
    is_pyramid(&c, &c.primitives()[0], &STRETCHED, [0.5, 0.5]);
    let widest = posed(&c, None).into_iter().map(|at| at.x.abs());
    let expected = expected(&STRETCHED, [0.5, 0.5]).into_iter().flatten();
    let widest_expected = expected.map(|[at, ..]| 2.0 * at.x.abs());
    let (a, b) = (
        widest.fold(0.0, f32::max),
        widest_expected.fold(0.0, f64::max),
    );
    assert!((f64::from(a) - b).abs() < TOLERANCE, "{a}, {b}");
}

/// An arm with joints, and vertices without weights that follow its node.
#[test]
fn skinned_meshes_agree() {
    for by in [TURNED, STRETCHED, MIRRORED] {
        let (mut file, numbers) = arm();
        let own = "P: \"GeometricTranslation\", \"GeometricTranslation\", \"\", \"A\",0,50,0";
        assert!(file.objects.contains(own));
        let properties = by.properties().map(|(name, [x, y, z])| {
            format!("P: \"{name}\", \"Vector3D\", \"Vector\", \"\",{x},{y},{z}")
        });
        file.objects = file.objects.replacen(own, &properties.join("\n"), 1);
        let take = file.take("Away", 0.0, 1.0);
        let keys = [(0.0, 0.0), (1.0, 400.0)];
        file.curve(
            take,
            (numbers.mesh, "Lcl Translation", "d|X"),
            &keys,
            LINEAR,
        );
        let keys = [(0.0, 0.0), (1.0, 100.0)];
        file.curve(
            take,
            (numbers.channel, "DeformPercent", "d|DeformPercent"),
            &keys,
            LINEAR,
        );
        agrees(&file, 0.0005);
    }
}

/// A scale of 0 leaves a flat mesh, without normals where it has none.
#[test]
fn scales_of_zero_are_read() {
    for scaling in [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3]] {
        let by = Geometric { scaling, ..TURNED };
        let c = import(&on_node(75.0, &by));
        let primitive = &c.primitives()[0];
        let expected = expected(&by, [0.5, 0.5]);
        for vertex in 0..primitive.positions.len() {
            let [at, normal, _] = morphed(primitive, vertex, &[0.5, 0.5]);
            assert!(normal.is_finite());
            let mut points = expected.as_flattened().iter().map(|[point, ..]| point);
            assert!(points.any(|point| point.distance(at) < TOLERANCE), "{at}");
        }
    }
}
