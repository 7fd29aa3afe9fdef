//! The simulation against the formula of the specification, in `f64`.

use super::bodies::{JOINTS, Show, apart, chain, skeleton, strand, way};
use throng::glam::{Affine3A, DAffine3, DMat3, DQuat, DVec3, Mat4};

/// The strand as the formula has it, one step per frame.
struct Strand {
    local: Vec<DAffine3>,
    now: [DVec3; JOINTS],
    before: [DVec3; JOINTS],
}

fn wide(affine: &Affine3A) -> DAffine3 {
    DAffine3::from_mat4(Mat4::from(*affine).as_dmat4())
}

impl Strand {
    fn new(world: &Affine3A) -> Self {
        let skeleton = skeleton();
        let local = skeleton
            .joints()
            .iter()
            .map(|joint| wide(&joint.rest.to_affine()));
        let local: Vec<DAffine3> = local.collect();
        let mut model = wide(world);
        let mut at = [DVec3::ZERO; JOINTS];
        for (at, local) in at.iter_mut().zip(&local) {
            model *= *local;
            *at = model.translation;
        }
        Self {
            local,
            now: at,
            before: at,
        }
    }

    /// Takes a step, and returns the joints in character space.
    fn step(&mut self, world: &Affine3A) -> Vec<Affine3A> {
        let world = wide(world);
        let mut matrix = world;
        let mut pose = Vec::new();
        for joint in 0..JOINTS {
            matrix *= self.local[joint];
            if let Some(settings) = chain().joints.iter().find(|j| j.joint.index() == joint)
                && joint + 1 < JOINTS
            {
                let head = matrix.translation;
                let arm = matrix.transform_vector3(self.local[joint + 1].translation);
                let (now, before) = (self.now[joint + 1], self.before[joint + 1]);
                let step_s = 1.0 / 60.0;
                let inertia = (now - before) * (1.0 - f64::from(settings.drag));
                let drawn = arm.normalize() * f64::from(settings.stiffness) * step_s;
                let fall = settings.gravity.as_dvec3() * step_s;
                let next = now + inertia + drawn + fall;
                let along = (next - head).normalize();
                self.before[joint + 1] = now;
                self.now[joint + 1] = head + along * arm.length();
                let turn = DQuat::from_rotation_arc(arm.normalize(), along);
                matrix.matrix3 = DMat3::from_quat(turn) * matrix.matrix3;
            }
            let model = world.inverse() * matrix;
            let (_, rotation, translation) = model.to_scale_rotation_translation();
            pose.push(Affine3A::from_rotation_translation(
                rotation.as_quat(),
                translation.as_vec3(),
            ));
        }
        pose
    }
}

#[test]
fn a_strand_swings_as_the_formula_says() {
    let mut show = Show::new(&strand());
    let mut reference = Strand::new(&way(0.0));
    show.at(0.0, &way(0.0));
    let mut farthest = 0.0_f32;
    let mut moved = 0.0_f32;
    let rest = Show::new(&super::bodies::plain()).at(0.0, &Affine3A::IDENTITY);
    for frame in 1..600 {
        let time_s = f64::from(frame) / 60.0;
        let pose = show.at(time_s, &way(time_s));
        let expected = reference.step(&way(time_s));
        farthest = farthest.max(apart(&pose, &expected));
        moved = moved.max(apart(&pose, &rest));
    }
    // 5e-6 was measured. The tails are 32-bit numbers in the world, ten metres from its origin.
    println!("{farthest} m");
    assert!(farthest < 2e-5, "{farthest}");
    assert!(moved > 0.1, "nothing swung: {moved}");
}
