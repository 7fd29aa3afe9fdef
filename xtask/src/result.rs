//! Results of tasks, and the text on how to call them.

/// The result of a task, with any error as a text for people.
pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

pub(crate) const USAGE: &str = "\
usage: cargo xtask ci [--all] [STAGE...]    run the stages of this commit, or only these
       cargo xtask ci --list [--all]        list the stages, and which of them this commit runs

--all, or THRONG_CI=all in the environment, runs every stage whole, as before a release.";
