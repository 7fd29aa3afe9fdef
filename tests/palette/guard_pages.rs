//! Nothing is read or written past the end of a slice: each ends before an inaccessible page.

use crate::guarded::Guarded;
use crate::reference::batch::{Batch, Sample};
use crate::reference::handles::Handles;
use crate::reference::random;
use throng::animator::{ActorId, Animator, Play, Pose, ShowPose};
use throng::character::Character;
use throng::glam::Affine3A;
use throng::import::{ImportOptions, RawCharacter};
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset, WriteOnly};
use throng::skeleton::Transform;
use throng::{Error, Id, SimdLevel};

/// Instances: less than, exactly and more than one and two groups of any level.
const COUNTS: [usize; 10] = [0, 1, 2, 3, 4, 7, 8, 9, 16, 33];

fn characters() -> Vec<Character> {
    let options = ImportOptions::default();
    let built_in = RawCharacter::mannequin().build(&options).unwrap().character;
    let made = (0..6).map(|seed| random::morphing(seed).build(&options).unwrap().character);
    std::iter::once(built_in).chain(made).collect()
}

fn batch(character: &Character, level: SimdLevel, count: usize) -> Batch {
    let clips = character.clips().len();
    let instance = |instance: usize| {
        let clip = |number: usize| (instance + number) % clips.max(1);
        let time_s = 0.13 * instance as f64;
        let sample = |number| Sample::new(clip(number), time_s).weighted(0.5);
        (0..(instance % 3).min(clips))
            .map(sample)
            .collect::<Vec<_>>()
    };
    let instances: Vec<_> = (0..count).map(instance).collect();
    Batch::new(character, level, &instances)
}

fn is_length<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::Argument { .. }))
}

fn nothing<E: PaletteEntry>() -> E {
    E::project(&Affine3A::IDENTITY)
}

#[test]
fn batches_stay_within_their_slices_on_every_level() {
    for character in characters() {
        let joints = character.skeleton().len();
        let entries = character.palette().len();
        for level in SimdLevel::available() {
            for count in COUNTS {
                let Batch {
                    mut animator,
                    actors,
                    ..
                } = batch(&character, level, count);
                let mut local = Guarded::new(&vec![Transform::IDENTITY; count * joints]);
                let mut models = Guarded::new(&vec![Affine3A::IDENTITY; count * joints]);
                animator.local_poses(&actors, local.slice_mut()).unwrap();
                animator.model_poses(&actors, models.slice_mut()).unwrap();
                palettes::<Mat3x4>(&mut animator, &actors, entries);
                palettes::<DualQuatStretch>(&mut animator, &actors, entries);
                palettes::<DualQuat>(&mut animator, &actors, entries);
                palettes::<QuatOffset>(&mut animator, &actors, entries);
            }
        }
    }
}

fn palettes<E: PaletteEntry>(animator: &mut Animator, actors: &[ActorId], entries: usize) {
    let len = actors.len() * entries;
    let mut out = Guarded::new(&vec![nothing::<E>(); len]);
    animator
        .palettes(actors, WriteOnly::from(out.slice_mut()))
        .unwrap();
    if len > 0 {
        let mut short = Guarded::new(&vec![nothing::<E>(); len - 1]);
        assert!(is_length(
            animator.palettes(actors, WriteOnly::from(short.slice_mut()))
        ));
    }
}

#[test]
fn animators_stay_within_their_slices() {
    for character in characters() {
        let joints = character.skeleton().len();
        let entries = character.palette().len();
        for count in COUNTS {
            let mut animator = Animator::new(&character).unwrap();
            let actors: Vec<_> = (0..count)
                .map(|instance| {
                    let clip = instance.checked_rem(character.clips().len());
                    let play = clip.map_or(Play::REST, |clip| Play::new(Id::new(clip as u16)));
                    animator.add(play).unwrap()
                })
                .collect();
            // One shows a pose that ends before a guard page.
            let pose: Vec<_> = character
                .skeleton()
                .joints()
                .iter()
                .map(|j| j.rest)
                .collect();
            let pose = Guarded::new(&pose);
            if let Some(last) = actors.last() {
                let show = ShowPose::default();
                animator
                    .live_mut(*last)
                    .set_pose(Pose::Local(pose.slice()), &show)
                    .unwrap();
                if joints > 0 {
                    let short = &pose.slice()[1..];
                    assert!(is_length(
                        animator.on(*last, |mut it| it.set_pose(Pose::Local(short), &show))
                    ));
                }
            }
            animator.update(0.37).unwrap();
            palettes::<Mat3x4>(&mut animator, &actors, entries);
            palettes::<DualQuatStretch>(&mut animator, &actors, entries);
            palettes::<DualQuat>(&mut animator, &actors, entries);
            palettes::<QuatOffset>(&mut animator, &actors, entries);
            let mut local = Guarded::new(&vec![Transform::IDENTITY; count * joints]);
            let mut models = Guarded::new(&vec![Affine3A::IDENTITY; count * joints]);
            animator.local_poses(&actors, local.slice_mut()).unwrap();
            animator.model_poses(&actors, models.slice_mut()).unwrap();
            let mut weights = Guarded::new(&vec![0.0; character.morph_weights().len()]);
            for actor in &actors {
                animator
                    .live(*actor)
                    .morph_weights(weights.slice_mut())
                    .unwrap();
            }
            if count * joints > 0 {
                let (local, models) = (local.slice_mut(), models.slice_mut());
                assert!(is_length(animator.local_poses(&actors, &mut local[1..])));
                assert!(is_length(animator.model_poses(&actors, &mut models[1..])));
            }
            if count > 0 && !weights.slice().is_empty() {
                let short = &mut weights.slice_mut()[1..];
                assert!(is_length(
                    animator
                        .actor(actors[0])
                        .and_then(|it| it.morph_weights(short))
                ));
            }
        }
    }
}

#[test]
fn clips_stay_within_their_slices() {
    for character in characters() {
        let joints = character.skeleton().len();
        for clip in character.clips() {
            for time_s in [-1.0, 0.0, 0.31, 0.5, 1e9, f64::NAN] {
                let mut local = Guarded::new(&vec![Transform::IDENTITY; joints]);
                clip.sample(time_s, local.slice_mut()).unwrap();
                if joints > 0 {
                    let short = &mut local.slice_mut()[1..];
                    assert!(is_length(clip.sample(time_s, short)));
                }
                let weights = character.morph_weights().len();
                let mut weights = Guarded::new(&vec![0.0; weights]);
                let out = weights.slice_mut();
                clip.sample_weights(time_s, |id, value| out[id.index()] = value);
                assert!(out.iter().all(|weight| weight.is_finite()));
            }
        }
    }
}

#[test]
fn palettes_of_a_model_pose_stay_within_their_slices() {
    fn one<E: PaletteEntry>(character: &Character, models: &[Affine3A]) {
        let len = character.palette().len();
        let mut out = Guarded::new(&vec![nothing::<E>(); len]);
        let to = WriteOnly::from(out.slice_mut());
        character.write_palette(models, to).unwrap();
        if len > 0 {
            let short = WriteOnly::from(&mut out.slice_mut()[1..]);
            assert!(is_length(character.write_palette(models, short)));
        }
    }
    for character in characters() {
        let models = vec![Affine3A::IDENTITY; character.skeleton().len()];
        let models = Guarded::new(&models);
        one::<Mat3x4>(&character, models.slice());
        one::<DualQuatStretch>(&character, models.slice());
        one::<DualQuat>(&character, models.slice());
        one::<QuatOffset>(&character, models.slice());
    }
}

/// The guard itself works: a write past the end ends the process by a signal.
#[test]
fn a_write_past_the_end_faults() {
    use std::os::unix::process::ExitStatusExt as _;
    const CHILD: &str = "THRONG_GUARD_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let mut guarded = Guarded::new(&[0_u8; 5]);
        let end = guarded.slice_mut().as_mut_ptr_range().end;
        // SAFETY: none. This is the fault that the test looks for.
        unsafe { end.write_volatile(1) };
        return;
    }
    let test = "guard_pages::a_write_past_the_end_faults";
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let signal = child.status.signal();
    assert!(
        matches!(signal, Some(libc::SIGSEGV | libc::SIGBUS)),
        "{:?}",
        child.status
    );
}
