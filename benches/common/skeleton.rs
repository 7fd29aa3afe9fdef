//! Skeletons of human proportions and depth.

use throng::glam::Vec3;

/// A joint at rest. All axes are those of the world.
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    /// Offset from the parent, in metres.
    pub(crate) offset: Vec3,
    /// Position in character space, in metres.
    pub(crate) position: Vec3,
}

/// A row of `len` joints, each `offset` from the one before.
///
/// The first is a child of the joint `from`. A chain with a `side` exists twice, mirrored in x.
struct Chain {
    name: &'static str,
    from: &'static str,
    len: usize,
    offset: [f32; 3],
    sides: bool,
}

const fn chain(name: &'static str, from: &'static str, len: usize, offset: [f32; 3]) -> Chain {
    Chain {
        name,
        from,
        len,
        offset,
        sides: false,
    }
}

const fn sides(name: &'static str, from: &'static str, len: usize, offset: [f32; 3]) -> Chain {
    Chain {
        name,
        from,
        len,
        offset,
        sides: true,
    }
}

/// 24 joints, 10 deep: a root, the spine up to the head, arms from the chest, legs.
const BODY: [Chain; 4] = [
    chain("root", "", 1, [0.0, 0.9, 0.0]),
    chain("spine", "root 0", 7, [0.0, 0.1, 0.0]),
    sides("arm", "spine 4", 4, [0.18, 0.0, 0.0]),
    sides("leg", "spine 0", 4, [0.06, -0.25, 0.0]),
];

/// 43 more, 14 deep: five fingers per hand with their metacarpals, eyes and a jaw.
const HANDS_AND_FACE: [Chain; 7] = [
    sides("thumb", "arm 3", 4, [0.02, -0.01, 0.02]),
    sides("index", "arm 3", 4, [0.03, 0.0, 0.01]),
    sides("middle", "arm 3", 4, [0.03, 0.0, 0.0]),
    sides("ring", "arm 3", 4, [0.03, 0.0, -0.01]),
    sides("little", "arm 3", 4, [0.02, 0.0, -0.02]),
    sides("eye", "spine 6", 1, [0.03, 0.06, 0.08]),
    chain("jaw", "spine 6", 1, [0.0, -0.02, 0.06]),
];

/// 61 more: twist joints along the limbs, a face, a skirt.
const TWISTS_FACE_SKIRT: [Chain; 12] = [
    sides("upper arm twist", "arm 1", 2, [0.06, 0.0, 0.0]),
    sides("lower arm twist", "arm 2", 2, [0.06, 0.0, 0.0]),
    sides("thigh twist", "leg 0", 2, [0.02, -0.08, 0.0]),
    sides("shin twist", "leg 1", 2, [0.02, -0.08, 0.0]),
    sides("brow", "spine 6", 3, [0.01, 0.08, 0.03]),
    sides("cheek", "spine 6", 3, [0.02, 0.02, 0.03]),
    sides("lip", "jaw 0", 3, [0.01, 0.01, 0.01]),
    sides("lid", "eye 0", 3, [0.0, 0.01, 0.01]),
    chain("tongue", "jaw 0", 1, [0.0, 0.0, -0.02]),
    sides("skirt front", "spine 0", 4, [0.05, -0.1, 0.05]),
    sides("skirt back", "spine 0", 4, [0.05, -0.1, -0.05]),
    chain("skirt middle", "spine 0", 4, [0.0, -0.1, -0.08]),
];

/// 240 more, 16 deep: hair in strands, a coat's tails, straps, and a face for close views.
const HAIR_COAT_FACE: [Chain; 14] = [
    sides("hair front", "spine 6", 8, [0.01, 0.04, 0.03]),
    sides("hair side", "spine 6", 8, [0.03, 0.03, 0.0]),
    sides("hair back", "spine 6", 8, [0.02, 0.03, -0.03]),
    sides("hair nape", "spine 5", 8, [0.01, -0.02, -0.04]),
    sides("coat front", "spine 1", 8, [0.05, -0.08, 0.06]),
    sides("coat side", "spine 1", 8, [0.08, -0.08, 0.0]),
    sides("coat back", "spine 1", 8, [0.05, -0.08, -0.06]),
    sides("sleeve", "arm 2", 8, [0.03, -0.04, 0.0]),
    sides("strap", "spine 3", 8, [0.04, -0.05, 0.05]),
    sides("boot", "leg 2", 8, [0.02, 0.02, 0.02]),
    sides("finger tips", "middle 1", 8, [0.002, 0.0, 0.004]),
    sides("cheek fold", "cheek 0", 8, [0.004, 0.002, 0.002]),
    sides("brow fold", "brow 0", 8, [0.004, 0.002, 0.002]),
    sides("lip fold", "lip 0", 16, [0.002, 0.001, 0.001]),
];

/// The first `count` of 368 joints, parents first.
///
/// - 24 joints are a body.
/// - 67 add fingers.
/// - 128 add a face, twist joints and a skirt.
/// - 368 add hair and a coat.
pub(crate) fn joints(count: usize) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let more = TWISTS_FACE_SKIRT.iter().chain(&HAIR_COAT_FACE);
    for chain in BODY.iter().chain(&HANDS_AND_FACE).chain(more) {
        let signs: &[f32] = if chain.sides { &[1.0, -1.0] } else { &[1.0] };
        for sign in signs {
            add(&mut places, chain, *sign);
        }
    }
    assert!(count <= places.len(), "at most {} joints", places.len());
    places.truncate(count);
    places
}

fn add(places: &mut Vec<Place>, chain: &Chain, sign: f32) {
    let [x, y, z] = chain.offset;
    let offset = Vec3::new(sign * x, y, z);
    let side = match (chain.sides, sign > 0.0) {
        (false, _) => "",
        (true, true) => "left ",
        (true, false) => "right ",
    };
    // The joint of the same side, or the one in the middle.
    let named = |name: &str| places.iter().position(|place| place.name == name);
    let mut parent = named(&format!("{side}{}", chain.from)).or_else(|| named(chain.from));
    for number in 0..chain.len {
        let origin = parent.map_or(Vec3::ZERO, |parent| places[parent].position);
        places.push(Place {
            name: format!("{side}{} {number}", chain.name),
            parent,
            offset,
            position: origin + offset,
        });
        parent = Some(places.len() - 1);
    }
}
