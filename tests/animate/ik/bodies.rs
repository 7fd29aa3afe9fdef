//! Random bodies with a limb, and what they look like, in plain `f64`.

use crate::reference::maths::{self, M4, Q, V3};
use crate::reference::raws;
use crate::reference::raws::node;
use crate::reference::rng::Rng;
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::ik::{
    Aim, AimTarget, ChainTarget, FeetTarget, FootPlacement, IkChain, TwoBone, TwoBoneTarget,
};
use throng::import::{ImportOptions, RawCharacter, RawNode, RawPrimitive};
use throng::skeleton::{Skeleton, Transform};
use throng::{IkReport, IkSolver, IkTarget, Result};

/// A local pose and its model pose.
pub(crate) type Pose<'a> = (&'a mut [Transform], &'a mut [Affine3A]);

/// Solves with one kind of solver.
pub(crate) trait Solve: Clone + Into<IkSolver> {
    type Target: Copy + Into<IkTarget>;
    type Report;

    fn of(report: IkReport) -> Option<Self::Report>;

    fn solve(
        &self,
        skeleton: &Skeleton,
        target: &Self::Target,
        (local, model): Pose<'_>,
    ) -> Result<Self::Report> {
        let solver: IkSolver = self.clone().into();
        let report = solver.solve(skeleton, &(*target).into(), local, model)?;
        Ok(Self::of(report).expect("a report of its own kind"))
    }
}

macro_rules! solve {
    ($($kind:ident: $solver:ty, $target:ty, $report:ident { $($field:ident: $type:ty),* };)*) => {$(
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub(crate) struct $report {
            $(pub(crate) $field: $type,)*
        }

        impl Solve for $solver {
            type Target = $target;
            type Report = $report;

            fn of(report: IkReport) -> Option<$report> {
                match report {
                    IkReport::$kind { $($field),* } => Some($report { $($field),* }),
                    _ => None,
                }
            }
        }
    )*};
}

solve! {
    TwoBone: TwoBone, TwoBoneTarget, TwoBoneReport { reached: bool, distance_m: f32 };
    Aim: Aim, AimTarget, AimReport { reached: bool, angle_rad: f32, weight: f32 };
    Chain: IkChain, ChainTarget, ChainReport { reached: bool, distance_m: f32, iterations: u16 };
    Feet: FootPlacement, FeetTarget, FeetReport {
        reached: bool,
        pelvis_m: f32,
        legs_m: [Option<f32>; FootPlacement::MAX_LEGS]
    };
}

/// The scales of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scales {
    /// None.
    One,
    /// Along all axes alike, everywhere.
    Uniform,
    /// Uneven and mirrored above the limb, of one size and any sign in it.
    UnevenAbove,
    /// Slightly uneven in the limb, too.
    Uneven,
}

pub(crate) const RIGID: [Scales; 3] = [Scales::One, Scales::Uniform, Scales::UnevenAbove];

/// A skeleton, a pose of it, and the joints of its limb.
pub(crate) struct Body {
    pub(crate) character: Character,
    pub(crate) rig: Skeleton,
    pub(crate) local: Vec<Transform>,
    pub(crate) model: Vec<Affine3A>,
    /// From the first that turns to the tip.
    pub(crate) limb: Vec<u16>,
}

fn scale(rng: &mut Rng, scales: Scales, in_limb: bool) -> Vec3 {
    let size = rng.range(0.7, 1.4);
    match scales {
        Scales::One => Vec3::ONE,
        Scales::Uniform => Vec3::splat(size),
        Scales::UnevenAbove | Scales::Uneven => {
            let signs = Vec3::from_array([0; 3].map(|_| if rng.chance(3) { -1.0 } else { 1.0 }));
            match (scales, in_limb) {
                (_, false) => signs * rng.vector(0.6, 1.5),
                (Scales::Uneven, true) => signs * rng.vector(0.85, 1.15),
                (_, true) => signs * size,
            }
        }
    }
}

/// A limb of `bones` bones, with up to two joints between its own ones if `gaps`, on a few joints;
/// things hang on it everywhere.
pub(crate) fn body(seed: u64, bones: usize, gaps: bool, scales: Scales) -> Body {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    let mut nodes: Vec<RawNode> = Vec::new();
    let mut limb: Vec<String> = Vec::new();
    let mut last = None;
    let mut add = |name: String, parent: Option<usize>, in_limb: bool, rng: &mut Rng| {
        let transform = raws::transform(
            rng.direction() * rng.range(0.2, 0.6),
            rng.rotation(),
            scale(rng, scales, in_limb),
        );
        nodes.push(node(name, parent, transform));
        nodes.len() - 1
    };
    for at in 0..rng.below(4) {
        last = Some(add(format!("above {at}"), last, false, rng));
    }
    for at in 0..=bones {
        if at > 0 && gaps {
            for between in 0..rng.below(3) {
                last = Some(add(format!("between {at} {between}"), last, true, rng));
            }
        }
        limb.push(format!("limb {at}"));
        let joint = add(format!("limb {at}"), last, true, rng);
        for twig in 0..rng.below(3) {
            let child = add(format!("twig {at} {twig}"), Some(joint), false, rng);
            add(format!("leaf {at} {twig}"), Some(child), false, rng);
        }
        last = Some(joint);
    }
    add("beside".into(), None, false, rng);
    let character = skinned(nodes)
        .build(&ImportOptions::curves_only())
        .unwrap()
        .character;
    let limb = limb.iter();
    let limb = limb.map(|name| character.skeleton().joint(name).unwrap().0);
    let limb = limb.collect();
    let mut body = Body::of(character, limb);
    for local in &mut body.local {
        local.rotation = rng.rotation();
    }
    body.compose();
    body
}

/// A vertex for every node, so that the skeleton has them all.
pub(crate) fn skinned(nodes: Vec<RawNode>) -> RawCharacter {
    let count = nodes.len();
    RawCharacter {
        skins: vec![raws::skin(0..count, Vec::new())],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: vec![Vec3::X; count],
            influences_per_vertex: 1,
            joints: (0..count as u32).collect(),
            weights: vec![1.0; count],
            indices: (0..count as u32).flat_map(|v| [v, v, v]).collect(),
            ..RawPrimitive::default()
        }],
        nodes,
        ..RawCharacter::default()
    }
}

impl Body {
    /// At rest.
    pub(crate) fn of(character: Character, limb: Vec<u16>) -> Self {
        let skeleton = character.skeleton();
        let mut body = Self {
            rig: skeleton.clone(),
            local: skeleton.joints().iter().map(|joint| joint.rest).collect(),
            model: vec![Affine3A::IDENTITY; skeleton.len()],
            limb,
            character,
        };
        body.compose();
        body
    }

    pub(crate) fn compose(&mut self) {
        self.character
            .skeleton()
            .model_pose(&self.local, &mut self.model)
            .unwrap();
    }

    pub(crate) fn pose(&mut self) -> Pose<'_> {
        (&mut self.local, &mut self.model)
    }

    /// The model pose in `f64`.
    pub(crate) fn exact(&self) -> Vec<M4> {
        globals(self.character.skeleton(), &self.local)
    }

    /// The positions of the limb's joints, in `f64`.
    pub(crate) fn places(&self) -> Vec<V3> {
        let exact = self.exact();
        let places = self.limb.iter().map(|joint| place(&exact, *joint));
        places.collect()
    }

    /// The sum of the lengths of the limb's bones.
    pub(crate) fn limb_m(&self) -> f64 {
        let places = self.places();
        let bones = places.windows(2).map(|at| maths::distance(at[0], at[1]));
        bones.sum()
    }

    /// A position that the tip can reach: its position in another pose.
    pub(crate) fn reachable(&self, rng: &mut Rng) -> V3 {
        let mut other = self.local.clone();
        for joint in &self.limb {
            other[usize::from(*joint)].rotation = rng.rotation();
        }
        let exact = globals(self.character.skeleton(), &other);
        place(&exact, *self.limb.last().unwrap())
    }

    /// The rest of the body is as in `before`, only rotations of the limb changed, and the model
    /// pose is that of the local one, bit by bit.
    pub(crate) fn assert_only_turned(&self, before: &[Transform]) {
        for (index, (now, before)) in self.local.iter().zip(before).enumerate() {
            assert_eq!(now.translation, before.translation, "joint {index}");
            assert_eq!(now.scale, before.scale, "joint {index}");
            let length = now.rotation.length();
            assert!((length - 1.0).abs() < 1e-6, "joint {index}: {length}");
            if !self.limb.contains(&(index as u16)) {
                assert_eq!(now.rotation, before.rotation, "joint {index}");
            }
        }
        self.assert_composed();
    }

    pub(crate) fn assert_composed(&self) {
        let mut model = vec![Affine3A::IDENTITY; self.model.len()];
        self.character
            .skeleton()
            .model_pose(&self.local, &mut model)
            .unwrap();
        assert_eq!(model, self.model);
    }
}

pub(crate) fn wide(v: Vec3) -> V3 {
    v.to_array().map(f64::from)
}

pub(crate) fn narrow(v: V3) -> Vec3 {
    Vec3::from_array(v.map(|c| c as f32))
}

pub(crate) fn wide4(q: Quat) -> Q {
    q.to_array().map(f64::from)
}

pub(crate) fn place(model: &[M4], joint: u16) -> V3 {
    maths::point(&model[usize::from(joint)], [0.0; 3])
}

pub(crate) fn globals(skeleton: &Skeleton, local: &[Transform]) -> Vec<M4> {
    let mut out: Vec<M4> = Vec::new();
    for (joint, local) in skeleton.joints().iter().zip(local) {
        let own = maths::trs(
            wide(local.translation),
            wide4(local.rotation),
            wide(local.scale),
        );
        out.push(match joint.parent {
            None => own,
            Some(parent) => maths::mul(&out[usize::from(parent)], &own),
        });
    }
    out
}

pub(crate) fn scaled(v: V3, by: f64) -> V3 {
    v.map(|c| c * by)
}

pub(crate) fn added(a: V3, b: V3) -> V3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn unit(v: V3) -> V3 {
    scaled(v, 1.0 / maths::length(v))
}

/// The part of `v` that is perpendicular to the unit vector `axis`.
pub(crate) fn across(v: V3, axis: V3) -> V3 {
    maths::sub(v, scaled(axis, maths::dot(v, axis)))
}

/// `v` turned about the unit vector `axis`, right-handed (Rodrigues).
pub(crate) fn about(v: V3, axis: V3, angle: f64) -> V3 {
    let side = maths::cross(axis, v);
    let along = scaled(axis, maths::dot(axis, v) * (1.0 - angle.cos()));
    added(
        added(scaled(v, angle.cos()), scaled(side, angle.sin())),
        along,
    )
}

/// The angle between two rotations, of quaternions of any length.
pub(crate) fn apart(a: Q, b: Q) -> f64 {
    let (a, b) = (maths::unit4(a), maths::unit4(b));
    let dot: f64 = (0..4).map(|k| a[k] * b[k]).sum();
    let sign = dot.signum();
    let chord: f64 = (0..4).map(|k| (a[k] - sign * b[k]).powi(2)).sum();
    4.0 * (0.5 * chord.sqrt()).min(1.0).asin()
}
