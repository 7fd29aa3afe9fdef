//! Processes that run jobs beside the stages, each with a log.

use crate::result::Result;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

/// Jobs that have begun and that no stage has waited for. They end with this.
#[derive(Debug)]
pub(crate) struct Background {
    /// The folder of the logs.
    folder: PathBuf,
    children: RefCell<BTreeMap<&'static str, Child>>,
}

impl Background {
    pub(crate) fn new(folder: PathBuf) -> Self {
        let children = RefCell::default();
        Self { folder, children }
    }

    /// Begins a job as a process group of its own, with less priority than the stages.
    pub(crate) fn begin(&self, job: &'static str, all: bool) -> Result {
        let log = File::create(self.log(job))?;
        let child = Command::new("nice")
            .args(["-n", "5"])
            .arg(std::env::current_exe()?)
            .args(["ci", "--background", job])
            .env("THRONG_CI", if all { "all" } else { "" })
            // Open as long as this process lives: see `end_with_the_parent`.
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn()?;
        self.children.borrow_mut().insert(job, child);
        Ok(())
    }

    /// Waits for a job and prints its log. Returns false if the job has not begun.
    pub(crate) fn finish(&self, job: &'static str) -> Result<bool> {
        let Some(mut child) = self.children.borrow_mut().remove(job) else {
            return Ok(false);
        };
        // `Child::wait` would close the input, which ends the job.
        let input = child.stdin.take();
        let status = child.wait()?;
        drop(input);
        print!("{}", fs::read_to_string(self.log(job))?);
        if !status.success() {
            return Err(format!("the job {job}: {status}").into());
        }
        Ok(true)
    }

    fn log(&self, job: &str) -> PathBuf {
        self.folder.join(job).with_extension("log")
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        for child in self.children.get_mut().values_mut() {
            drop(child.stdin.take());
            // An error means that the job is gone already.
            let _ = child.wait();
        }
    }
}

/// Kills this process and its group as soon as the process that began it ends, in whatever way: its
/// end of the standard input closes then.
pub(crate) fn end_with_the_parent() {
    thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        let group = format!("-{}", std::process::id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    });
}
