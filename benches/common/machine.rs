//! The machine and command of a measurement, to print beside its figures.

/// The model of the CPU.
pub(crate) fn cpu() -> String {
    std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        })
        .unwrap_or_else(|| format!("unknown ({})", std::env::consts::ARCH))
}

/// The widest vector instructions that the compiler may use.
pub(crate) fn vectors() -> &'static str {
    if cfg!(target_feature = "avx512f") {
        "AVX-512"
    } else if cfg!(target_feature = "avx2") {
        "AVX2"
    } else if cfg!(target_feature = "sse2") {
        "SSE2"
    } else if cfg!(target_feature = "neon") {
        "NEON"
    } else {
        "none known"
    }
}

/// The arguments after `--`, unchanged.
pub(crate) fn arguments() -> Vec<String> {
    std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect()
}

/// The command that reproduces this run of `bench`.
pub(crate) fn command(bench: &str) -> String {
    let arguments = arguments();
    let dashes = if arguments.is_empty() { "" } else { " -- " };
    format!("cargo bench --bench {bench}{dashes}{}", arguments.join(" "))
}
