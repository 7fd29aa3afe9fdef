//! The run of the stages.

use crate::ci::Ci;
use crate::result::{Result, USAGE};
use crate::stages::{RELEASE, STAGES, Stage};
use crate::{log, setup};
use std::time::Instant;

/// Lists stages, or runs them: those of this commit, or those that are named.
pub(crate) fn run(arguments: &[&str]) -> Result {
    let has = |flag| arguments.contains(&flag);
    let names = || {
        arguments
            .iter()
            .filter(|it| !["--all", "--list"].contains(it))
    };
    if let Some(unknown) = names().find(|name| !STAGES.iter().any(|stage| stage.name == **name)) {
        return Err(format!("there is no stage {unknown}\n{USAGE}").into());
    }
    let ci = Ci::new(has("--all"))?;
    if has("--list") {
        list(&ci);
        return Ok(());
    }
    let is_named = |stage: &&Stage| names().any(|name| *name == stage.name);
    let stages: Vec<&Stage> = match names().next() {
        None => STAGES.iter().collect(),
        Some(_) => {
            setup::assets(&ci)?;
            STAGES.iter().filter(is_named).collect()
        }
    };
    run_stages(&ci, &stages, names().next().is_some())
}

/// Runs stages until the first that fails, and prints the seconds of each.
fn run_stages(ci: &Ci, stages: &[&Stage], are_named: bool) -> Result {
    let all_start = Instant::now();
    let mut timings = String::new();
    let mut result = Ok(());
    for stage in stages {
        for job in stage.begins.iter().filter(|_| !are_named) {
            if job.turn.is_none_or(|turn| ci.share.has(turn)) {
                ci.background.begin(job.name, ci.share.is_all())?;
            }
        }
        println!("\n== {}", stage.name);
        if !are_named && !stage.turn.is_none_or(|turn| ci.share.has(turn)) {
            let now = ci.share.turn().unwrap_or_default();
            println!("NOT THE TURN of {}: this commit tries {now}", stage.name);
            continue;
        }
        let start = Instant::now();
        let seconds = |start: Instant| start.elapsed().as_secs();
        match stage.work.run(ci) {
            Ok(()) => timings += &format!("== {:12} {:4} s\n", stage.name, seconds(start)),
            Err(error) => {
                let (name, seconds) = (stage.name, seconds(start));
                result = Err(format!("FAILED in stage '{name}' after {seconds} s: {error}").into());
                break;
            }
        }
    }
    print!("\n{timings}");
    let seconds = all_start.elapsed().as_secs();
    match &result {
        Ok(()) => println!("== passed in {seconds} s"),
        Err(error) => println!("== {error}"),
    }
    log::print_test_counts(&ci.test_log());
    result
}

/// Prints a line for each stage.
fn list(ci: &Ci) {
    for stage in STAGES {
        let runs = stage.turn.is_none_or(|turn| ci.share.has(turn));
        let turn = match stage.turn {
            Some(RELEASE) => " (with --all)".to_owned(),
            Some(turn) if turn != stage.name => format!(" (in the turn of {turn})"),
            Some(_) => " (in its turn)".to_owned(),
            None => String::new(),
        };
        let mark = if runs { '*' } else { ' ' };
        println!("{mark} {:12} {}{turn}", stage.name, stage.about);
    }
    println!(
        "\n* runs in this commit; {}",
        match ci.share.turn() {
            Some(turn) => format!("its turn is {turn}"),
            None => "all run".to_owned(),
        }
    );
}
