//! A character with a given number of influences, and a palette in every format for it.

use crate::Outcome;
use std::rc::Rc;
use throng::SimdLevel;
use throng::character::Character;
use throng::clip::Interpolation;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::import::{
    ImportOptions, RawAnimation, RawChannel, RawCharacter, RawKeys, RawNode, RawPrimitive, RawSkin,
};
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset};
use throng::skeleton::Transform;
use throng::skin::{PosedVertices, Skinner};

/// Influences per vertex.
pub(crate) const COUNTS: [usize; 5] = [1, 2, 4, 8, 16];
/// Number of vertices, about that of a game character.
const VERTICES: usize = 10_000;
const JOINTS: usize = 64;

/// A palette format: a method, with or without stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Mat3x4,
    QuatOffset,
    DualQuat,
    DualQuatStretch,
}

impl Format {
    pub(crate) const ALL: [Self; 4] = [
        Self::Mat3x4,
        Self::QuatOffset,
        Self::DualQuat,
        Self::DualQuatStretch,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mat3x4 => "Mat3x4",
            Self::QuatOffset => "QuatOffset",
            Self::DualQuat => "DualQuat",
            Self::DualQuatStretch => "DualQuatStretch",
        }
    }
}

/// A palette in every format.
pub(crate) struct Palettes {
    pub(crate) matrices: Vec<Mat3x4>,
    pub(crate) offsets: Vec<QuatOffset>,
    pub(crate) duals: Vec<DualQuat>,
    pub(crate) stretched: Vec<DualQuatStretch>,
}

impl Palettes {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let entries: Vec<_> = (0..JOINTS).map(|_| random.transform()).collect();
        fn all<E: PaletteEntry>(list: &[Affine3A]) -> Vec<E> {
            list.iter().map(E::project).collect()
        }
        Self {
            matrices: all(&entries),
            offsets: all(&entries),
            duals: all(&entries),
            stretched: all(&entries),
        }
    }
}

/// A character, its palettes, and the output buffers for its vertices.
pub(crate) struct Load {
    pub(crate) influences: usize,
    pub(crate) character: Character,
    pub(crate) skinner: Skinner,
    pub(crate) baseline: Skinner,
    pub(crate) palettes: Rc<Palettes>,
    pub(crate) posed: PosedVertices,
    pub(crate) words: Vec<f32>,
    pub(crate) copied: Vec<f32>,
}

impl Load {
    /// Creates a load in which every vertex follows as many neighbouring joints as asked for.
    pub(crate) fn new(influences: usize) -> Outcome<Self> {
        let character = raw(influences).build(&ImportOptions::default())?.character;
        let skinner = Skinner::new(&character)?;
        let words = vec![0.0; skinner.layout().words as usize];
        Ok(Self {
            influences,
            baseline: Skinner::new(&character)?.with_simd_level(SimdLevel::Portable)?,
            character,
            skinner,
            palettes: Rc::new(Palettes::new(7)),
            posed: PosedVertices::default(),
            copied: words.clone(),
            words,
        })
    }

    pub(crate) fn vertices(&self) -> usize {
        self.character.vertex_count()
    }
}

fn raw(influences: usize) -> RawCharacter {
    let mut random = Random(3);
    let node = |joint: usize| RawNode {
        name: format!("joint {joint}").into(),
        parent: None,
        transform: Transform::IDENTITY,
        matrix: None,
    };
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for vertex in 0..VERTICES {
        // The vertices progress along the mesh from joint to joint.
        let near = vertex * JOINTS / VERTICES + (random.unit() * 4.0) as usize;
        for number in 0..influences {
            joints.push(((near + number) % JOINTS) as u32);
            weights.push(random.unit() + 0.1);
        }
    }
    RawCharacter {
        nodes: (0..JOINTS).map(node).collect(),
        skins: vec![RawSkin {
            joints: (0..JOINTS).collect(),
            ..RawSkin::default()
        }],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: (0..VERTICES).map(|_| random.vector()).collect(),
            normals: (0..VERTICES).map(|_| random.vector().normalize()).collect(),
            influences_per_vertex: influences,
            joints,
            weights,
            indices: (0..VERTICES as u32).flat_map(|v| [v; 3]).collect(),
            ..RawPrimitive::default()
        }],
        animations: vec![turning()],
        ..RawCharacter::default()
    }
}

/// A clip in which every joint rotates about its own axis.
fn turning() -> RawAnimation {
    let mut random = Random(11);
    let mut channel = |node: usize| {
        let axis = (random.vector() + 0.6).normalize();
        RawChannel {
            node,
            times_s: vec![0.0, 1.0],
            interpolation: Interpolation::Linear,
            values: RawKeys::Rotation(vec![Quat::IDENTITY, Quat::from_axis_angle(axis, 1.0)]),
        }
    };
    RawAnimation {
        name: "turning".into(),
        channels: (0..JOINTS).map(&mut channel).collect(),
        ..RawAnimation::default()
    }
}

/// Xorshift.
struct Random(u64);

impl Random {
    /// A number from 0 to 1.
    fn unit(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1_u32 << 24) as f32
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::from_array([0; 3].map(|_| self.unit() - 0.5))
    }

    fn transform(&mut self) -> Affine3A {
        let turn = Quat::from_axis_angle((self.vector() + 0.6).normalize(), self.unit());
        let scale = Vec3::ONE + self.vector() * 0.4;
        Affine3A::from_scale_rotation_translation(scale, turn, self.vector())
    }
}
