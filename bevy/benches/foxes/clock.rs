//! CPU time of threads.

use std::time::Duration;

/// The CPU time of the calling thread.
pub(crate) fn this_thread() -> Duration {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is writable. A clock of a thread that has ended leaves it unchanged.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The CPU time of the thread that makes it and of Bevy's workers, without the driver's threads.
pub(crate) struct Clock(Vec<libc::clockid_t>);

impl Clock {
    pub(crate) fn new() -> Self {
        let mut clocks = vec![libc::CLOCK_THREAD_CPUTIME_ID];
        for thread in std::fs::read_dir("/proc/self/task")
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
            let id = thread.file_name().to_string_lossy().parse::<i32>();
            // "Compute Task Pool (0)", cut off.
            if let (true, Ok(id)) = (name.starts_with("Compute Task"), id) {
                // The clock of another thread's CPU time, as `pthread_getcpuclockid` makes it.
                clocks.push((!id << 3) | 6);
            }
        }
        Self(clocks)
    }

    pub(crate) fn now(&self) -> Duration {
        self.0.iter().map(|clock| read(*clock)).sum()
    }
}
