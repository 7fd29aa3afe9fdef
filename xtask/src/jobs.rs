//! The jobs that run beside the stages.

use crate::background::end_with_the_parent;
use crate::ci::Ci;
use crate::result::Result;
use crate::{checks, drivers, setup};
use xshell::cmd;

/// Work that does not need the results of the stages beside it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) name: &'static str,
    /// The job begins only in this turn.
    pub(crate) turn: Option<&'static str>,
    pub(crate) run: fn(&Ci) -> Result,
}

/// Makes the root of Debian 13 while other stages compile. Its stage waits for the script's lock.
pub(crate) const DEBIAN_13: Job = Job {
    name: "debian-13",
    turn: Some("debian-13"),
    run: |ci| Ok(cmd!(ci.sh, "scripts/debian-13").run()?),
};

/// Makes the prefix of wine. Its stage waits in the same way.
pub(crate) const WINE: Job = Job {
    name: "wine",
    turn: Some("windows"),
    run: |ci| Ok(cmd!(ci.sh, "scripts/windows").run()?),
};

/// Compiles for checks that run no program.
pub(crate) const CHECKS: Job = Job {
    name: "checks",
    turn: None,
    run: checks::run,
};

/// Tests on SwiftShader.
pub(crate) const SWIFTSHADER: Job = Job {
    name: "swiftshader",
    turn: Some("swiftshader"),
    run: drivers::swiftshader,
};

/// Runs a job in this process, which ends with its parent.
pub(crate) fn run(name: &str) -> Result {
    let jobs = [&DEBIAN_13, &WINE, &CHECKS, &SWIFTSHADER];
    let job = jobs.iter().find(|job| job.name == name);
    let job = job.ok_or_else(|| format!("there is no job {name}"))?;
    end_with_the_parent();
    let ci = Ci::new(false)?;
    // With other models than the stages, Cargo would build the tests anew while they run.
    setup::assets(&ci)?;
    (job.run)(&ci)
}
