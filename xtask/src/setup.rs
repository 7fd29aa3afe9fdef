//! Stages that prepare the machine: packages, models, a display.

use crate::ci::Ci;
use crate::result::Result;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;
use xshell::cmd;

/// Installs packages, rustfmt and Clippy, and puts shaderc together.
pub(crate) fn install(ci: &Ci) -> Result {
    let sh = &ci.sh;
    cmd!(sh, "bash .ci/packages").run()?;
    let tools = ["fmt", "clippy"];
    if !tools
        .iter()
        .all(|tool| cmd!(sh, "cargo {tool} --version").quiet().output().is_ok())
    {
        cmd!(sh, "rustup component add rustfmt clippy").run()?;
    }
    cmd!(sh, "cargo --version").quiet().run()?;
    // So that no stage builds shaderc from source if that is not necessary.
    if cmd!(sh, "scripts/shaderc-lib").quiet().run().is_err() {
        println!("no packaged shaderc here: it is built from source, for about twelve minutes");
    }
    Ok(())
}

/// Finds the real models.
pub(crate) fn assets(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let shared = Path::new(&ci.root).join("../shared/assets");
    if sh.var("THRONG_ASSETS").is_err() && shared.is_dir() {
        sh.set_var("THRONG_ASSETS", shared.canonicalize()?);
    }
    match sh.var("THRONG_ASSETS") {
        Ok(folder) => {
            // A missing model ends the build of the tests instead of leaving some out.
            sh.set_var("THRONG_REQUIRE_ASSETS", "1");
            println!("real models: {folder}");
        }
        Err(_) => {
            println!("THE REAL MODELS ARE MISSING: set THRONG_ASSETS to a folder that has them");
        }
    }
    Ok(())
}

/// Finds a display, or starts Xvfb.
pub(crate) fn display(ci: &Ci) -> Result {
    let sh = &ci.sh;
    if ci.has_display() {
        println!("display {}", sh.var("DISPLAY")?);
        return Ok(());
    }
    // The server writes its number into this file.
    let file = ci.work.join("display");
    sh.write_file(&file, "")?;
    let log = std::fs::File::create(ci.work.join("xvfb.log"))?;
    let server = Command::new("sh")
        .args([
            "-c",
            "exec Xvfb -displayfd 3 -screen 0 1280x720x24 -nolisten tcp -noreset 3>\"$0\"",
        ])
        .arg(&file)
        .stderr(log)
        .spawn()?;
    *ci.x_server.borrow_mut() = Some(server);
    for _ in 0..100 {
        let number = sh.read_file(&file)?;
        if number.ends_with('\n') {
            let display = format!(":{}", number.trim());
            println!("Xvfb on {display}");
            sh.set_var("DISPLAY", display);
            return Ok(());
        }
        let mut server = ci.x_server.borrow_mut();
        if server
            .as_mut()
            .is_some_and(|it| matches!(it.try_wait(), Ok(Some(_))))
        {
            break;
        }
        sleep(Duration::from_millis(100));
    }
    let log = sh.read_file(ci.work.join("xvfb.log"))?;
    if log.contains("Xvfb: not found") {
        println!("NO DISPLAY: programs that open windows run without one");
        return Ok(());
    }
    Err(format!("Xvfb did not start: {log}").into())
}
