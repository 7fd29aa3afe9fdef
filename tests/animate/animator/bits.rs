//! Changes that must not affect a palette: other actors, their order, and threads.

use super::exact::Exact;
use super::script;
use super::world::{World, world};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use std::sync::Arc;
use throng::Threads;
use throng::animator::{ActorId, Animator, Play};
use throng::glam::Affine3A;
use throng::palette::{DualQuat, Mat3x4, PaletteEntry, WriteOnly};

/// Some actors after random commands. Some have model poses of their own.
fn crowd(world: &World, count: usize) -> (Animator, Vec<ActorId>) {
    let mut rng = Rng::new(5);
    let mut animator = Animator::new(&world.character).unwrap();
    animator.reserve(count);
    let ids: Vec<_> = (0..count)
        .map(|_| animator.add(Play::REST).unwrap())
        .collect();
    for frame in 1..=30 {
        for id in &ids {
            if rng.chance(3) {
                let local_s = animator.live(*id).time_s();
                let command = script::command(&mut rng, world, local_s);
                script::say(&mut animator, *id, world, &command);
            }
        }
        animator.update(0.07 * f64::from(frame)).unwrap();
    }
    let mut model = vec![Affine3A::IDENTITY; world.joints()];
    animator.model_poses(&[ids[0]], &mut model).unwrap();
    for id in ids.iter().step_by(7) {
        animator
            .live_mut(*id)
            .set_pose(throng::Pose::Model(&model), &throng::ShowPose::default())
            .unwrap();
    }
    animator.update(2.2).unwrap();
    (animator, ids)
}

fn palettes<E: PaletteEntry + Clone>(
    animator: &mut Animator,
    ids: &[ActorId],
    zero: E,
) -> Vec<Vec<E>> {
    let entries = world().character.palette().len();
    let mut out = vec![zero; ids.len() * entries];
    animator.palettes(ids, WriteOnly::from(&mut out)).unwrap();
    out.chunks(entries).map(<[_]>::to_vec).collect()
}

#[test]
fn company_order_and_threads_change_no_bit() {
    let (mut animator, ids) = crowd(world(), 61);
    let want = palettes(&mut animator, &ids, Mat3x4::IDENTITY);
    let duals = palettes(&mut animator, &ids, DualQuat::IDENTITY);
    assert!(want.iter().any(|palette| *palette != want[1]));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .unwrap();
    for threads in [Threads::One, Threads::Pool(Arc::new(pool)), Threads::Rayon] {
        animator.set_threads(threads);
        // Each alone, then all in reverse, some twice, and every third.
        for (number, id) in ids.iter().enumerate() {
            assert_eq!(
                palettes(&mut animator, &[*id], Mat3x4::IDENTITY),
                want[number..=number]
            );
        }
        let order: Vec<usize> = (0..ids.len())
            .rev()
            .chain((0..ids.len()).step_by(3))
            .collect();
        let list: Vec<_> = order.iter().map(|number| ids[*number]).collect();
        let got = palettes(&mut animator, &list, Mat3x4::IDENTITY);
        let also = palettes(&mut animator, &list, DualQuat::IDENTITY);
        for ((got, also), number) in got.iter().zip(&also).zip(order) {
            assert_eq!((got, also), (&want[number], &duals[number]), "{number}");
        }
    }
}

/// AVX2 and AVX-512 give the same bits, and `Portable` is SSE2, which does not fuse multiplications
/// and additions. The two groups differ by rounding.
#[cfg(target_arch = "x86_64")]
#[test]
fn levels_with_the_same_arithmetic_give_the_same_bits() {
    use throng::SimdLevel;
    let (mut animator, ids) = crowd(world(), 61);
    let mut groups: [Option<Vec<Vec<Mat3x4>>>; 2] = [None, None];
    for level in SimdLevel::available().chain([SimdLevel::Portable]) {
        animator.set_simd_level(level).unwrap();
        let got = palettes(&mut animator, &ids, Mat3x4::IDENTITY);
        let fused = matches!(level, SimdLevel::Avx512 | SimdLevel::Avx2);
        match &groups[usize::from(fused)] {
            Some(want) => assert!(got == *want, "{level}"),
            None => groups[usize::from(fused)] = Some(got),
        }
    }
    let [Some(plain), Some(fused)] = groups else {
        return;
    };
    let numbers = |all: &[Vec<Mat3x4>]| -> Vec<f32> {
        let rows = all.iter().flatten().flat_map(|entry| entry.rows);
        rows.flatten().collect()
    };
    let (plain, fused) = (numbers(&plain), numbers(&fused));
    let pairs = || plain.iter().zip(&fused);
    let equal = pairs().filter(|(a, b)| a.to_bits() == b.to_bits()).count();
    let worst = pairs().fold(0.0, |worst: f32, (a, b)| worst.max((a - b).abs()));
    println!(
        "{equal} of {} numbers are equal, the others by {worst:e} apart",
        plain.len()
    );
    assert!(equal < plain.len() && worst < 4e-6, "{worst:e}");
}

/// An actor's pose does not depend on other actors, on their removal, or on an earlier actor with
/// its index.
#[test]
fn other_actors_change_no_bit() {
    let world = world();
    let alone = |crowd: bool| {
        let (mut animator, mut rng) = (world.animator(), Rng::new(9));
        let mut others = Vec::new();
        let mut chaos = Rng::new(10);
        if crowd {
            others.extend((0..20).map(|_| animator.add("Walk").unwrap()));
            animator.remove(others.swap_remove(4)).unwrap();
        }
        let id = animator.add("Run").unwrap();
        let mut exact = Exact::new(world);
        for frame in 1..=200 {
            for other in &mut others {
                let command = script::command(&mut chaos, world, exact.local_s);
                script::say(&mut animator, *other, world, &command);
                if chaos.chance(30) {
                    animator.remove(*other).unwrap();
                    *other = animator.add("Wave").unwrap();
                }
            }
            if rng.chance(3) {
                let command = script::command(&mut rng, world, exact.local_s);
                script::say(&mut animator, id, world, &command);
            }
            let now_s = 0.03 * f64::from(frame);
            exact.advance(now_s);
            animator.update(now_s).unwrap();
        }
        palettes(&mut animator, &[id], Mat3x4::IDENTITY)
    };
    assert_eq!(alone(false), alone(true));
}
