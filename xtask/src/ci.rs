//! The context of all stages.

use crate::background::Background;
use crate::result::Result;
use crate::share::Share;
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::process::Child;
use xshell::{Cmd, Shell};

/// A run of stages on this checkout.
#[derive(Debug)]
pub(crate) struct Ci {
    /// In the root of the repository.
    pub(crate) sh: Shell,
    /// The root of the repository, for paths of scripts.
    pub(crate) root: String,
    /// The folder `target/ci`, for logs and pictures.
    pub(crate) work: PathBuf,
    pub(crate) share: Share,
    pub(crate) background: Background,
    /// A display server of this run.
    pub(crate) x_server: RefCell<Option<Child>>,
    /// The stage `debian-13` has run its tests.
    pub(crate) has_debian_13: Cell<bool>,
}

impl Ci {
    pub(crate) fn new(all: bool) -> Result<Self> {
        let sh = Shell::new()?;
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .canonicalize()?;
        sh.change_dir(&root);
        let root = root.into_os_string().into_string();
        let root = root.map_err(|path| format!("the path {} is not UTF-8", path.display()))?;
        // Everything is built once here: files for building again would only cost time and disk,
        // and so would the lines of backtraces.
        sh.set_var("CI", "true");
        sh.set_var("CARGO_INCREMENTAL", "0");
        sh.set_var("CARGO_PROFILE_DEV_DEBUG", "0");
        let all = all || sh.var("THRONG_CI").is_ok_and(|it| it == "all");
        let share = Share::new(&sh, all)?;
        let work = PathBuf::from(&root).join("target/ci");
        sh.create_dir(&work)?;
        Ok(Self {
            sh,
            root,
            background: Background::new(work.clone()),
            work,
            share,
            x_server: RefCell::default(),
            has_debian_13: Cell::new(false),
        })
    }

    /// A command, whose words are separated by spaces.
    pub(crate) fn command(&self, line: &str) -> Cmd<'_> {
        let mut words = line.split_whitespace();
        self.sh.cmd(words.next().unwrap_or_default()).args(words)
    }

    /// A command with a Vulkan driver.
    pub(crate) fn vulkan(&self, line: &str) -> Cmd<'_> {
        self.command(&format!("{}/scripts/with-vulkan {line}", self.root))
    }

    /// The log of all calls of `cargo test` whose tests are counted.
    pub(crate) fn test_log(&self) -> PathBuf {
        self.work.join("test.log")
    }

    pub(crate) fn has_display(&self) -> bool {
        self.sh
            .var("DISPLAY")
            .is_ok_and(|display| !display.is_empty())
    }
}

impl Drop for Ci {
    fn drop(&mut self) {
        if let Some(mut server) = self.x_server.take() {
            // It may have ended by itself.
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
