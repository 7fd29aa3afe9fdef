//! A writer of FBX files as text, and the arm that most tests use.

use std::fmt::Write as _;

/// FBX time units per second.
pub(crate) const TICKS: f64 = 46_186_158_000.0;

/// The interpolation of a key, as the format stores it.
pub(crate) const CONSTANT: u32 = 0x2;
pub(crate) const LINEAR: u32 = 0x4;
/// Cubic with automatic tangents.
pub(crate) const CUBIC: u32 = 0x108;

/// A file, in parts that tests change.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) settings: String,
    pub(crate) objects: String,
    pub(crate) connections: String,
    next: u64,
}

pub(crate) fn list<T: ToString>(values: &[T]) -> String {
    let words: Vec<String> = values.iter().map(T::to_string).collect();
    format!("*{} {{ a: {} }}", values.len(), words.join(","))
}

pub(crate) fn moved([x, y, z]: [f64; 3]) -> [f64; 16] {
    let i = 1.0;
    [i, 0., 0., 0., 0., i, 0., 0., 0., 0., i, 0., x, y, z, i]
}

impl File {
    /// A file in centimetres, with +Z up.
    pub(crate) fn new() -> Self {
        Self::with_axes(2, 1, -1, 1.0)
    }

    pub(crate) fn with_axes(up: u32, front: u32, front_sign: i32, unit_cm: f64) -> Self {
        let mut settings = String::new();
        for (name, value) in [
            ("UpAxis", up as i32),
            ("UpAxisSign", 1),
            ("FrontAxis", front as i32),
            ("FrontAxisSign", front_sign),
            ("CoordAxis", 0),
            ("CoordAxisSign", 1),
        ] {
            writeln!(
                settings,
                "P: \"{name}\", \"int\", \"Integer\", \"\",{value}"
            )
            .unwrap();
        }
        for name in ["UnitScaleFactor", "OriginalUnitScaleFactor"] {
            writeln!(
                settings,
                "P: \"{name}\", \"double\", \"Number\", \"\",{unit_cm}"
            )
            .unwrap();
        }
        settings += "P: \"TimeMode\", \"enum\", \"\", \"\",6\n";
        Self {
            settings,
            objects: String::new(),
            connections: String::new(),
            next: 1000,
        }
    }

    pub(crate) fn text(&self) -> String {
        format!(
            "; FBX 7.4.0 project file\nFBXHeaderExtension:  {{\n\tFBXHeaderVersion: 1003\n\
             \tFBXVersion: 7400\n}}\nGlobalSettings:  {{\n\tVersion: 1000\n\tProperties70:  {{\n\
             {}}}\n}}\nObjects:  {{\n{}}}\nConnections:  {{\n{}}}\n",
            self.settings, self.objects, self.connections
        )
    }

    /// An object, with its number.
    pub(crate) fn object(&mut self, kind: &str, name: &str, class: &str, body: &str) -> u64 {
        self.next += 1;
        let id = self.next;
        writeln!(
            self.objects,
            "{kind}: {id}, \"{name}\", \"{class}\" {{\n{body}\n}}"
        )
        .unwrap();
        id
    }

    pub(crate) fn connect(&mut self, child: u64, parent: u64) {
        writeln!(self.connections, "C: \"OO\",{child},{parent}").unwrap();
    }

    pub(crate) fn connect_to(&mut self, child: u64, parent: u64, property: &str) {
        writeln!(
            self.connections,
            "C: \"OP\",{child},{parent}, \"{property}\""
        )
        .unwrap();
    }

    /// A node with these vector properties.
    pub(crate) fn node(
        &mut self,
        name: &str,
        class: &str,
        parent: u64,
        properties: &[(&str, [f64; 3])],
    ) -> u64 {
        let mut body = String::from("Version: 232\nProperties70: {\n");
        for (property, [x, y, z]) in properties {
            writeln!(
                body,
                "P: \"{property}\", \"{property}\", \"\", \"A\",{x},{y},{z}"
            )
            .unwrap();
        }
        let id = self.object("Model", &format!("Model::{name}"), class, &(body + "}"));
        self.connect(id, parent);
        id
    }

    pub(crate) fn cluster(
        &mut self,
        skin: u64,
        bone: u64,
        weights: &[(u32, f64)],
        geometry_to_bone: [f64; 16],
        bone_to_world: [f64; 16],
    ) {
        let (indices, weights): (Vec<u32>, Vec<f64>) = weights.iter().copied().unzip();
        let body = format!(
            "Version: 100\nIndexes: {}\nWeights: {}\nTransform: {}\nTransformLink: {}",
            list(&indices),
            list(&weights),
            list(&geometry_to_bone),
            list(&bone_to_world)
        );
        let cluster = self.object("Deformer", "SubDeformer::", "Cluster", &body);
        self.connect(cluster, skin);
        self.connect(bone, cluster);
    }

    /// A take, with its only layer.
    pub(crate) fn take(&mut self, name: &str, start_s: f64, stop_s: f64) -> u64 {
        let time = |seconds: f64| (seconds * TICKS).round() as i64;
        let body = format!(
            "Properties70: {{\nP: \"LocalStart\", \"KTime\", \"Time\", \"\",{}\n\
             P: \"LocalStop\", \"KTime\", \"Time\", \"\",{}\n}}",
            time(start_s),
            time(stop_s)
        );
        let stack = self.object("AnimationStack", &format!("AnimStack::{name}"), "", &body);
        let layer = self.object("AnimationLayer", "AnimLayer::Base", "", "");
        self.connect(layer, stack);
        layer
    }

    /// A curve of one part of a property: keys of (seconds, value), all with one interpolation.
    pub(crate) fn curve(
        &mut self,
        layer: u64,
        (node, property, part): (u64, &str, &str),
        keys: &[(f64, f64)],
        interpolation: u32,
    ) {
        let body = format!("Properties70: {{\nP: \"{part}\", \"Number\", \"\", \"A\",0\n}}");
        let curve_node = self.object("AnimationCurveNode", "AnimCurveNode::", "", &body);
        self.connect(curve_node, layer);
        self.connect_to(curve_node, node, property);
        let times: Vec<i64> = keys
            .iter()
            .map(|key| (key.0 * TICKS).round() as i64)
            .collect();
        let values: Vec<f64> = keys.iter().map(|key| key.1).collect();
        let body = format!(
            "Default: 0\nKeyVer: 4008\nKeyTime: {}\nKeyValueFloat: {}\nKeyAttrFlags: {}\n\
             KeyAttrDataFloat: {}\nKeyAttrRefCount: {}",
            list(&times),
            list(&values),
            list(&[interpolation]),
            list(&[0, 0, 218_434_821, 0]),
            list(&[keys.len()])
        );
        let curve = self.object("AnimationCurve", "AnimCurve::", "", &body);
        self.connect_to(curve, curve_node, part);
    }
}

/// The numbers of the arm's objects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arm {
    pub(crate) geometry: u64,
    pub(crate) base: u64,
    pub(crate) tip: u64,
    pub(crate) mesh: u64,
    pub(crate) channel: u64,
}

/// An arm of 1 m, straight up, with two takes and a blend shape. In centimetres, with +Z up.
///
/// A quad of 10 × 100 cm and one triangle at the arm's end that no joint moves. The geometric
/// translation moves all of it by 50 cm along Y.
pub(crate) fn arm() -> (File, Arm) {
    let mut file = File::new();
    let vertices = [
        [0, 0, 0],
        [10, 0, 0],
        [10, 0, 100],
        [0, 0, 100], //
        [0, 0, 200],
        [10, 0, 200],
        [10, 0, 210],
    ];
    let uvs = [[0.0, 0.25], [1.0, 0.25], [1.0, 1.0], [0.0, 1.0]];
    let body = format!(
        "Vertices: {}\nPolygonVertexIndex: {}\nGeometryVersion: 124\n\
         LayerElementUV: 0 {{\nVersion: 101\nName: \"map1\"\n\
         MappingInformationType: \"ByPolygonVertex\"\nReferenceInformationType: \"IndexToDirect\"\n\
         UV: {}\nUVIndex: {}\n}}\n\
         Layer: 0 {{\nVersion: 100\nLayerElement: {{\n\
         Type: \"LayerElementUV\"\nTypedIndex: 0\n}}\n}}",
        list(vertices.as_flattened()),
        list(&[0, 1, 2, -4, 4, 5, -7]),
        list(uvs.as_flattened()),
        list(&[0, 1, 2, 3, 0, 1, 2]),
    );
    let geometry = file.object("Geometry", "Geometry::Arm", "Mesh", &body);
    let base = file.node("Base", "LimbNode", 0, &[]);
    let tip = file.node(
        "Tip",
        "LimbNode",
        base,
        &[("Lcl Translation", [0., 0., 100.])],
    );
    let shift = [("GeometricTranslation", [0., 50., 0.])];
    let mesh = file.node("Arm", "Mesh", 0, &shift);
    file.connect(geometry, mesh);

    let skin = file.object("Deformer", "Deformer::", "Skin", "Version: 101");
    file.connect(skin, geometry);
    let (at, back) = (moved([0., 0., 100.]), moved([0., 0., -100.]));
    file.cluster(
        skin,
        base,
        &[(0, 1.), (1, 1.), (2, 0.25)],
        moved([0.; 3]),
        moved([0.; 3]),
    );
    file.cluster(skin, tip, &[(2, 0.75), (3, 1.)], back, at);

    let shapes = file.object("Deformer", "Deformer::", "BlendShape", "Version: 100");
    file.connect(shapes, geometry);
    let body = "Version: 100\nDeformPercent: 0\nFullWeights: *1 { a: 100 }";
    let channel = file.object("Deformer", "SubDeformer::wide", "BlendShapeChannel", body);
    file.connect(channel, shapes);
    let body = format!("Indexes: {}\nVertices: {}", list(&[1]), list(&[20, 0, 0]));
    let shape = file.object("Geometry", "Geometry::wide", "Shape", &body);
    file.connect(shape, channel);

    let bend = file.take("Bend", 0.0, 1.0);
    let of_tip = |property, part| (tip, property, part);
    file.curve(
        bend,
        of_tip("Lcl Rotation", "d|X"),
        &[(0., 0.), (1., 90.)],
        LINEAR,
    );
    let lift = file.take("Lift", 1.0, 3.0);
    let keys = [(0., 0.), (1., 0.), (2., 80.), (3., 0.), (4., 500.)];
    file.curve(lift, (base, "Lcl Translation", "d|Z"), &keys, CUBIC);
    let keys = [(1., 0.), (2., 100.), (3., 50.)];
    file.curve(
        lift,
        (channel, "DeformPercent", "d|DeformPercent"),
        &keys,
        LINEAR,
    );
    let arm = Arm {
        geometry,
        base,
        tip,
        mesh,
        channel,
    };
    (file, arm)
}
