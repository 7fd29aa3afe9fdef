//! Stages that run GPU tests on other drivers, and shader compilers.

use crate::ci::Ci;
use crate::result::Result;
use xshell::cmd;

/// Tests that depend on a newer driver or layer. Each commit runs all of them in its turn.
const DEPEND_ON_THE_DRIVER: [&str; 6] =
    ["materials", "parts", "poison", "rays::", "sides", "model::"];

/// GPU tests once more, with a newer driver, which has descriptor indexing, and a newer layer:
/// those that depend on it, and a sample of the others.
pub(crate) fn debian_13(ci: &Ci) -> Result {
    let sh = &ci.sh;
    if cmd!(sh, "scripts/debian-13").run().is_err() {
        println!("THE DEBIAN 13 ROOT IS MISSING: nothing is tested with a newer validation layer");
        return Ok(());
    }
    // Its lavapipe fills new memory with garbage, and the GPU culls and poses instances, as in no
    // other stage. The configuration is one in which the stage `test` did not run them.
    let _poison = sh.push_env("LVP_POISON_MEMORY", "1");
    let _configuration = sh.push_env("THRONG_CONFIGURATIONS", "another");
    let _stages = sh.push_env("THRONG_STAGES", "gpu");
    let runner = r#"target."cfg(unix)".runner = "scripts/debian-13""#;
    let test = || cmd!(sh, "cargo test --quiet --config {runner}");
    let list = test()
        .args("--test gpu -- --list --format terse".split(' '))
        .read()?;
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    // Left out: tests that take minutes, and those that need a display, which the root lacks.
    let tests: Vec<&str> = tests
        .filter(|name| !name.contains("gpu_assisted"))
        .collect();
    let depends = |name: &&str| DEPEND_ON_THE_DRIVER.iter().any(|it| name.contains(it));
    let (mut some, others): (Vec<&str>, Vec<&str>) = tests.iter().partition(|name| depends(name));
    some.extend(ci.share.sample(others, 8));
    println!("A SAMPLE: {} of {} GPU tests", some.len(), tests.len());
    let gpu = test().args("--test gpu -- --include-ignored --exact".split(' '));
    gpu.args(some).run()?;
    let others = "--test standalone -- --include-ignored --skip presents_resizes --skip child_";
    test().args(others.split(' ')).run()?;
    // The machine's own driver has no ray queries.
    let example = cmd!(
        sh,
        "cargo run --quiet --config {runner} --example rays -- --headless"
    );
    example
        .env("THRONG_VALIDATION", "1")
        .ignore_stdout()
        .run()?;
    // Its window, which the root has no display for.
    if ci.has_display()
        && let Ok(icd) = cmd!(sh, "scripts/second-driver").read()
    {
        let window = ci.vulkan("cargo run --quiet --example rays -- --frames 4");
        let window = window.env("VK_DRIVER_FILES", icd);
        window.env("THRONG_VALIDATION", "1").ignore_stdout().run()?;
    }
    ci.has_debian_13.set(true);
    Ok(())
}

/// All GPU tests on a newer driver with this machine's layer, if there is no root of Debian 13.
pub(crate) fn second(ci: &Ci) -> Result {
    let sh = &ci.sh;
    if ci.has_debian_13.get() {
        return Ok(());
    }
    let Ok(icd) = cmd!(sh, "scripts/second-driver").read() else {
        println!(
            "THE SECOND DRIVER IS MISSING: descriptor indexing is tested only if this machine's \
             own driver has it"
        );
        return Ok(());
    };
    let test = "cargo test --quiet --test gpu -- --include-ignored --skip gpu_assisted";
    let test = ci.vulkan(test);
    Ok(test
        .env("LVP_POISON_MEMORY", "1")
        .env("VK_DRIVER_FILES", icd)
        .run()?)
}

/// Results of the compilers of real GPUs for the shaders, against the committed figures.
pub(crate) fn isa(ci: &Ci) -> Result {
    let isa = cmd!(ci.sh, "scripts/isa --compare benches/isa/figures.json");
    match std::process::Command::from(isa).status()?.code() {
        Some(0) => Ok(()),
        Some(3) => {
            println!("THE COMPILERS ARE MISSING: no shader was measured");
            Ok(())
        }
        code => Err(format!("scripts/isa ended with {code:?}").into()),
    }
}

/// A sample of the GPU tests and golden pictures on SwiftShader, which shares no code with Mesa:
/// tests that depend on the precision of rasterization. It mostly uses one core, so it runs beside
/// the tests on other drivers.
pub(crate) fn swiftshader(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let Ok(icd) = cmd!(sh, "scripts/swiftshader").read() else {
        println!("SWIFTSHADER IS MISSING: all GPU tests ran on one family of drivers");
        return Ok(());
    };
    let _driver = sh.push_env("VK_DRIVER_FILES", icd);
    let gpu = "cargo test --quiet --test gpu -- motion::events::what materials::factors \
               passes::kinds::depths planted sides::an_own sides::a_quiet";
    ci.vulkan(gpu).run()?;
    let golden = "cargo test --quiet --test golden -- board minimal";
    Ok(ci.vulkan(golden).run()?)
}
