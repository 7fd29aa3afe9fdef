//! Times the CPU: one instance on one core, many instances on all cores.

use crate::Outcome;
use crate::load::{Format, Load, Palettes};
use crate::scalar;
use crate::timing::{Time, in_turn};
use rayon::prelude::*;
use std::hint::black_box;
use std::rc::Rc;
use throng::palette::{PaletteEntry, PaletteFormat, WriteOnly};

/// The operation that is timed, for one instance's positions and normals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// [`skin`], vertex by vertex.
    Plain,
    /// A tight scalar loop, for matrices only.
    Loop,
    /// [`Skinner::skin`](throng::skin::Skinner::skin), with the best code that the CPU has.
    Skinner,
    /// The same with the instructions that every CPU of the target has.
    Baseline,
    /// [`Skinner::bounds`](throng::skin::Skinner::bounds): the positions, without storing them.
    Bounds,
    /// A copy of the output of the others.
    Memcpy,
}

impl Figure {
    pub(crate) const ALL: [Self; 6] = [
        Self::Plain,
        Self::Loop,
        Self::Skinner,
        Self::Baseline,
        Self::Bounds,
        Self::Memcpy,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Loop => "loop",
            Self::Skinner => "Skinner",
            Self::Baseline => "baseline",
            Self::Bounds => "bounds",
            Self::Memcpy => "memcpy",
        }
    }
}

impl Load {
    pub(crate) fn run(&mut self, figure: Figure, format: Format) -> Outcome {
        let palettes = Rc::clone(&self.palettes);
        match format {
            Format::Mat3x4 => self.run_with(figure, &palettes.matrices),
            Format::QuatOffset => self.run_with(figure, &palettes.offsets),
            Format::DualQuat => self.run_with(figure, &palettes.duals),
            Format::DualQuatStretch => self.run_with(figure, &palettes.stretched),
        }
    }

    fn run_with<P: PaletteEntry>(&mut self, figure: Figure, palette: &[P]) -> Outcome {
        match figure {
            Figure::Plain => {
                for primitive in self.character.primitives() {
                    self.character
                        .skin_primitive(primitive, palette, &[], &mut self.posed)?;
                }
                black_box(&self.posed);
            }
            Figure::Loop => {
                if P::FORMAT == PaletteFormat::Mat3x4 {
                    let primitive = &self.character.primitives()[0];
                    scalar::skin(primitive, &self.palettes.matrices, &mut self.words);
                    black_box(&self.words);
                }
            }
            Figure::Skinner => {
                let out = WriteOnly::from(&mut self.words);
                self.skinner.skin(palette, &[], out)?;
                black_box(&self.words);
            }
            Figure::Baseline => {
                let out = WriteOnly::from(&mut self.words);
                self.baseline.skin(palette, &[], out)?;
                black_box(&self.words);
            }
            Figure::Bounds => {
                black_box(self.skinner.bounds(palette, &[])?);
            }
            Figure::Memcpy => {
                self.copied.copy_from_slice(black_box(&self.words));
                black_box(&self.copied);
            }
        }
        Ok(())
    }
}

/// The timings of one load and format.
pub(crate) struct Row {
    pub(crate) influences: usize,
    pub(crate) format: Format,
    pub(crate) vertices: usize,
    pub(crate) times: [Time; Figure::ALL.len()],
}

impl Row {
    pub(crate) fn time(&self, figure: Figure) -> Time {
        self.times[figure as usize]
    }
}

/// Times all figures in turn, for their ratios.
pub(crate) fn compare(rounds: usize, load: &mut Load, format: Format) -> Outcome<Row> {
    Ok(Row {
        influences: load.influences,
        format,
        vertices: load.vertices(),
        times: in_turn(rounds, |figure| load.run(Figure::ALL[figure], format))?,
    })
}

/// Number of instances of the crowd that is deformed on several threads.
pub(crate) const INSTANCES: usize = 64;
/// Influences per vertex of that crowd.
pub(crate) const INFLUENCES: usize = 4;

/// The times of [`Skinner::skin`](throng::skin::Skinner::skin) for many instances, on one thread
/// and on more.
pub(crate) struct Scaling {
    pub(crate) threads: [usize; 4],
    pub(crate) vertices: usize,
    pub(crate) times: [Time; 4],
}

/// Times one thread, and a quarter, a half and all of the machine's threads.
pub(crate) fn scaling(rounds: usize) -> Outcome<Scaling> {
    let load = Load::new(INFLUENCES)?;
    let all = std::thread::available_parallelism()?.get();
    let threads = [1, all.div_ceil(4), all.div_ceil(2), all];
    let mut pools = Vec::new();
    for threads in threads {
        pools.push(
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()?,
        );
    }
    let palettes = (1..=INSTANCES as u64).map(|seed| Palettes::new(seed).matrices);
    let palettes: Vec<_> = palettes.collect();
    let words = load.skinner.layout().words as usize;
    let mut out = vec![0.0; words * INSTANCES];
    let times = in_turn(rounds, |pool| {
        pools[pool].install(|| {
            let jobs = out.par_chunks_exact_mut(words).zip(&palettes);
            jobs.try_for_each(|(out, matrices)| {
                load.skinner.skin(matrices, &[], WriteOnly::from(out))
            })
        })
    })?;
    Ok(Scaling {
        threads,
        vertices: load.vertices() * INSTANCES,
        times,
    })
}
