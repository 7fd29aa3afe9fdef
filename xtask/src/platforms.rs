//! Stages that compile for other targets and run there.

use crate::ci::Ci;
use crate::result::Result;
use crate::tests::survives_a_closed_output;
use std::path::Path;
use std::process::{Command, Stdio};
use xshell::{Cmd, cmd};

/// Options for tests that run for seconds: the library compiles in a third of the time.
const UNOPTIMISED: [&str; 10] = [
    "--config",
    "profile.dev.package.throng.opt-level = 0",
    "--config",
    "profile.dev.package.throng-export.opt-level = 0",
    "--config",
    "profile.dev.package.throng-import.opt-level = 0",
    "--config",
    "profile.dev.package.throng-reference.opt-level = 0",
    "--config",
    "profile.dev.debug = false",
];

/// Adds a target of Rust's, or reports that it is missing.
pub(crate) fn add_target(ci: &Ci, target: &str) -> bool {
    let add = cmd!(ci.sh, "rustup target add {target}")
        .quiet()
        .ignore_stderr()
        .ignore_stdout();
    let is_there = add.run().is_ok();
    if !is_there {
        println!("THE TARGET {target} IS MISSING: nothing was compiled for it");
    }
    is_there
}

/// The tests of FBX on this machine's own target.
pub(crate) fn fbx(ci: &Ci) -> Result {
    let test = "cargo test --quiet -p throng-tests --no-default-features --features fbx --test fbx";
    Ok(ci.command(test).args(UNOPTIMISED).run()?)
}

/// The CPU level on 32 bits, if this machine can link and run its tests, and the tests of FBX.
pub(crate) fn bits_32(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let target = "i686-unknown-linux-gnu";
    if !add_target(ci, target) {
        return fbx(ci);
    }
    let (source, program) = (ci.work.join("bits32.c"), ci.work.join("bits32"));
    sh.write_file(&source, "int main(void) { return 0; }\n")?;
    let compile = cmd!(sh, "gcc -m32 -o {program} {source}").ignore_stderr();
    if compile.run().is_err() || cmd!(sh, "{program}").run().is_err() {
        println!("NO 32-BIT LIBRARIES (gcc-multilib): the library was only checked for 32 bits");
        let check = "cargo check --quiet -p throng --lib --no-default-features --features toml";
        ci.command(&format!("{check} --target {target}")).run()?;
        return fbx(ci);
    }
    // The tests of FBX run here alone, so that the library is not built once more for them. Without
    // Vulkan, which none of these tests uses. Optimised: without, they take many minutes. Tests of
    // many files or poses take minutes, and depend little on the size of an address.
    let test = |programs: &str| {
        let test = "cargo test --quiet -p throng-tests --no-default-features --features fbx";
        ci.command(&format!("{test} --target {target} {programs}"))
    };
    test("--test fbx").run()?;
    let programs = "--test skin --test import --test palette -- \
                    --skip fuzz --skip random --skip models --skip method_";
    test(programs).run()?;
    // Saved characters that were altered. The other tests of this program load many models at once,
    // for which 32 bits of address may not be enough.
    Ok(test("--test character -- altered large_numbers cut stated_counts").run()?)
}

const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// Cargo for Windows programs. One set of packages makes features the same in each call.
fn cargo_for_windows<'a>(ci: &'a Ci, command: &str, programs: &str) -> Cmd<'a> {
    let cargo = format!("cargo {command} --quiet --target {WINDOWS}");
    let cargo = ci.command(&format!("{cargo} -p throng -p throng-cli -p throng-tests"));
    let runner = format!("target.{WINDOWS}.runner = 'scripts/windows'");
    let cargo = cargo.args(["--config", &runner]).args(UNOPTIMISED);
    let cargo = cargo.env("CARGO_TARGET_DIR", "target/checks");
    cargo.args(programs.split_whitespace())
}

/// Compiles the programs that run under wine, without optimisation, because they run for seconds.
pub(crate) fn build_windows(ci: &Ci) -> Result {
    if !add_target(ci, WINDOWS) {
        return Ok(());
    }
    let compiler = cmd!(ci.sh, "x86_64-w64-mingw32-gcc --version").quiet();
    if compiler.output().is_err() {
        println!("MINGW IS MISSING: nothing was compiled for Windows");
        return Ok(());
    }
    let programs = "--bin throng --example minimal --example crowd";
    cargo_for_windows(ci, "build", programs).run()?;
    let tests = "--no-run --test character --test import --test cli";
    Ok(cargo_for_windows(ci, "test", tests).run()?)
}

/// Windows programs under wine: tests of files, names and the command line, and two pictures.
pub(crate) fn windows(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let built = Path::new(&ci.root).join(format!("target/checks/{WINDOWS}/debug"));
    let throng = built.join("throng.exe");
    if !throng.exists() {
        println!("NOTHING WAS BUILT FOR WINDOWS: the checks say why");
        return Ok(());
    }
    if cmd!(sh, "scripts/windows").run().is_err() {
        println!("WINE IS MISSING: no Windows program was run");
        return Ok(());
    }
    let _limit = sh.push_env("THRONG_WINE_S", "120");
    let tests = [
        "--test character -- save_files",
        "--test import -- files bad_resources textures formats",
        "--test cli -- check::folders words",
    ];
    for test in tests {
        cargo_for_windows(ci, "test", test).run()?;
    }
    // A reader that is gone is no error, and does not change the status. Wine has an error of its
    // own for it.
    let root = &ci.root;
    let wine = |program: &Path| cmd!(sh, "{root}/scripts/windows {program}");
    let closed = |program: Cmd<'_>| -> Result<Option<i32>> {
        let mut child = Command::from(program).stdout(Stdio::piped()).spawn()?;
        drop(child.stdout.take());
        Ok(child.wait()?.code())
    };
    for arguments in ["completions bash", "--help"] {
        closed(wine(&throng).args(arguments.split(' ')))?;
    }
    let status = closed(wine(&throng).args(["check", "missing.glb"]))?;
    if status != Some(1) {
        return Err(format!("with a closed output, a faulty file makes status {status:?}").into());
    }
    let crowd = built.join("examples/crowd.exe");
    closed(wine(&crowd).arg("--help"))?;
    if !ci.has_display() {
        println!("NO DISPLAY: no Windows program drew a picture");
        return Ok(());
    }
    compare_pictures(ci, wine(&built.join("examples/minimal.exe")), wine(&crowd))
}

/// Compares pictures of Windows programs with those of the same programs here.
fn compare_pictures(ci: &Ci, minimal: Cmd<'_>, crowd: Cmd<'_>) -> Result {
    let sh = &ci.sh;
    let small = "--headless --frames 3 --instances 60 --size 480x270";
    let here = ci.work.join("linux");
    sh.create_dir(&here)?;
    {
        let _folder = sh.push_dir(&here);
        ci.vulkan("cargo run --quiet --example minimal").run()?;
        let crowd = "cargo run --quiet --example crowd --";
        ci.vulkan(&format!("{crowd} {small}")).run()?;
    }
    let _folder = sh.push_dir(&ci.work);
    for picture in ["minimal", "crowd"] {
        sh.remove_path(format!("{picture}.png"))?;
    }
    minimal.run()?;
    survives_a_closed_output(crowd.args(small.split(' ')))?;
    // The C library's sines differ in the last bit, and the validation layer is not there.
    for picture in ["minimal", "crowd"] {
        let compare = cmd!(
            sh,
            "compare -fuzz 5% -metric AE {picture}.png linux/{picture}.png null:"
        );
        let different = compare.ignore_status().read_stderr()?;
        println!("{picture}: {different} pixels differ from Linux's by more than 5 %");
        if different.trim().parse::<f64>()? >= 300.0 {
            return Err(format!("the example {picture} draws another picture").into());
        }
    }
    Ok(())
}
