//! Animation on the CPU, without Vulkan.

use super::figures::{Row, median, ms, row};
use crate::failure::Failure;
use std::time::Instant;
use throng::animator::{ActorId, Animator, Play};
use throng::character::Character;
use throng::palette::{Mat3x4, WriteOnly};
use throng::{Id, Threads};

pub(super) const FRAME_S: f64 = 1.0 / 60.0;

pub(super) fn name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let name = line.map(|line| line.trim_start_matches([' ', '\t', ':']));
    name.map_or_else(|| std::env::consts::ARCH.into(), Into::into)
}

pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The motion of an instance: the clips in turn, each instance at a time of its own.
pub(super) fn play(model: &Character, instance: usize) -> Play<'static> {
    let clips = model.clips();
    let playable = clips
        .iter()
        .enumerate()
        .filter(|(_, clip)| !clip.is_additive());
    let playable: Vec<_> = playable.collect();
    let Some((index, clip)) = playable.get(instance % playable.len().max(1)) else {
        return Play::REST;
    };
    // The golden ratio spreads the times evenly.
    let part = (instance as f64 * 0.618_034).fract();
    Play {
        offset_s: part * clip.duration_s(),
        ..Play::new(Id::new(*index as u16))
    }
}

/// The rows of the table: the palettes of all instances, on one thread and on all.
pub(super) fn animate(
    model: &Character,
    instances: usize,
    frames: usize,
) -> Result<Vec<Row>, Failure> {
    let mut animator = Animator::new(model)?;
    let actors = (0..instances).map(|instance| animator.add(play(model, instance)));
    let actors = actors.collect::<throng::Result<Vec<ActorId>>>()?;
    let mut palettes = vec![Mat3x4::IDENTITY; model.palette().len() * instances];
    let mut rows = Vec::new();
    let mut frame = 0;
    let all = [
        ("on one thread", Threads::One),
        ("on all threads", Threads::Rayon),
    ];
    for (what, threads) in all {
        animator.set_threads(threads);
        let mut times = Vec::with_capacity(frames);
        for number in 0..frames + 1 {
            frame += 1;
            let started = Instant::now();
            animator.update(f64::from(frame) * FRAME_S)?;
            animator.palettes(&actors, WriteOnly::from(&mut palettes))?;
            // The first frame touches the memory.
            if number > 0 {
                times.push(ms(started));
            }
            std::hint::black_box(&palettes);
        }
        rows.push(row(what, median(times), Some(instances)));
    }
    Ok(rows)
}
