//! The stages in their order.

use crate::ci::Ci;
use crate::jobs::{CHECKS, DEBIAN_13, Job, SWIFTSHADER, WINE};
use crate::result::Result;
use crate::{checks, drivers, packages, platforms, release, setup, tests};

/// The turn of stages that run with `--all` only.
pub(crate) const RELEASE: &str = "release";

/// A part of continuous integration.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The stage runs only in this turn: one of [`TURNS`](crate::share::TURNS), or [`RELEASE`].
    pub(crate) turn: Option<&'static str>,
    /// Jobs that begin before the stage.
    pub(crate) begins: &'static [&'static Job],
    pub(crate) work: Work,
}

#[derive(Debug)]
pub(crate) enum Work {
    Run(fn(&Ci) -> Result),
    /// Waits for a job, or runs it if it has not begun.
    Wait(&'static Job),
}

impl Work {
    pub(crate) fn run(&self, ci: &Ci) -> Result {
        match self {
            Self::Run(run) => run(ci),
            Self::Wait(job) if ci.background.finish(job.name)? => Ok(()),
            Self::Wait(job) => (job.run)(ci),
        }
    }
}

const fn run(name: &'static str, run: fn(&Ci) -> Result, about: &'static str) -> Stage {
    stage(name, Work::Run(run), about)
}

const fn stage(name: &'static str, work: Work, about: &'static str) -> Stage {
    Stage {
        name,
        about,
        turn: None,
        begins: &[],
        work,
    }
}

impl Stage {
    const fn turn(self, turn: &'static str) -> Self {
        Self {
            turn: Some(turn),
            ..self
        }
    }

    const fn begins(self, begins: &'static [&'static Job]) -> Self {
        Self { begins, ..self }
    }
}

pub(crate) const STAGES: &[Stage] = &[
    run(
        "install",
        setup::install,
        "packages of Debian and Ubuntu, rustfmt, Clippy",
    ),
    run("assets", setup::assets, "finds the real models").begins(&[&DEBIAN_13, &WINE]),
    run("display", setup::display, "finds a display, or starts one"),
    run(
        "scripts",
        checks::scripts,
        "words, format, shellcheck, the tests of this program",
    ),
    run("test", tests::readme, "the test command of the README").begins(&[&CHECKS]),
    run("viewer", tests::viewer, "the viewer and its tests").turn("viewer"),
    run("engines", tests::engines, "crowds in wgpu and vk-graph").turn("engines"),
    run("bevy", tests::bevy, "the plugin for Bevy, and its example").turn("bevy"),
    run(
        "examples",
        tests::examples,
        "most examples, under the validation layer",
    ),
    run(
        "debian-13",
        drivers::debian_13,
        "GPU tests: newer driver and layer, garbage in memory",
    )
    .turn("debian-13")
    .begins(&[&SWIFTSHADER]),
    run(
        "driver",
        drivers::second,
        "GPU tests on a newer driver, if there is no Debian 13 root",
    )
    .turn("debian-13"),
    run("isa", drivers::isa, "figures of AMD's shader compilers"),
    run("fbx", platforms::fbx, "tests of FBX").turn("swiftshader"),
    stage(
        "swiftshader",
        Work::Wait(&SWIFTSHADER),
        "GPU tests and pictures on SwiftShader",
    )
    .turn("swiftshader"),
    run("cli", tests::cli, "tests of the command line").turn("cli"),
    run("i686", platforms::bits_32, "tests in 32 bits, and of FBX").turn("i686"),
    stage(
        "checks",
        Work::Wait(&CHECKS),
        "lints, single features, documentation",
    ),
    run("windows", platforms::windows, "Windows programs under wine").turn("windows"),
    run(
        "dependencies",
        release::dependencies,
        "no C compiler; licences, sources, versions of Rust",
    ),
    run(
        "package",
        packages::publish,
        "the packages as Cargo would publish them",
    )
    .turn("package"),
    run(
        "docs-rs",
        packages::docs_rs,
        "documentation with the settings of docs.rs",
    )
    .turn("package"),
    run(
        "rust-version",
        release::rust_version,
        "the packages with the oldest Rust that they state",
    )
    .turn("package"),
    run(
        "minimal",
        release::minimal,
        "an empty crate that depends on this one",
    )
    .turn("package"),
    run(
        "glam",
        release::glam,
        "engines with the oldest and the newest glam",
    )
    .turn("package"),
    // That builds most of Bevy, so it goes with the shortest stage.
    run(
        "bevys-glam",
        release::bevys_glam,
        "the plugin for Bevy, with Bevy's glam",
    )
    .turn("i686"),
    run(
        "semver",
        release::semver,
        "the API against that of the last release",
    )
    .turn(RELEASE),
];

#[cfg(test)]
mod tests_of_the_list {
    use super::*;
    use crate::share::TURNS;

    #[test]
    fn every_turn_has_a_stage() {
        let turns = STAGES.iter().filter_map(|stage| stage.turn);
        let turns = || turns.clone().filter(|turn| *turn != RELEASE);
        assert!(turns().all(|turn| TURNS.contains(&turn)));
        assert!(TURNS.iter().all(|turn| turns().any(|it| it == *turn)));
    }
}
