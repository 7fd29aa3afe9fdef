//! Stages that run tests and examples with the packages that the README's command has built.

use crate::ci::Ci;
use crate::log;
use crate::result::Result;
use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};
use xshell::{Cmd, cmd};

/// Runs the test command of the README literally. A part of the GPU tests runs in another
/// configuration in the stage `debian-13`.
pub(crate) fn readme(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let readme = sh.read_file("README.md")?;
    let command =
        test_command(&readme).ok_or("README.md has no line 'scripts/with-vulkan cargo test'")?;
    sh.remove_path(ci.test_log())?;
    let output = log::tee(cmd!(sh, "bash -c {command}"), &ci.test_log())?;
    let has_readme = |line: &str| {
        let line = line.to_lowercase();
        line.starts_with("test ") && line.contains("readme") && line.ends_with(" ... ok")
    };
    if !output.lines().any(has_readme) {
        return Err("no code of README.md was compiled as a test".into());
    }
    if ci.has_display() {
        let test = "cargo test --test standalone presents_resizes -- --include-ignored";
        log::tee(ci.vulkan(test), &ci.test_log())?;
    }
    Ok(())
}

/// The first test command in a page, without its comment.
fn test_command(page: &str) -> Option<&str> {
    let commands = page
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    commands
        .into_iter()
        .find(|command| *command == "scripts/with-vulkan cargo test")
}

/// The viewer beside the tests, so that it has the library of the stage `test`, with its features.
const VIEWER: &str = "-p throng-viewer -p throng-tests --features throng-viewer/draco";

/// The tests of the viewer, and a picture of it.
pub(crate) fn viewer(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let ignored = if ci.has_display() {
        "--include-ignored"
    } else {
        ""
    };
    let test = ci.vulkan(&format!("cargo test {VIEWER} --lib -- {ignored}"));
    let output = log::tee(test, &ci.test_log())?;
    // The library of the README's command serves all stages after it.
    let builds = output
        .lines()
        .filter(|it| it.trim().starts_with("Compiling throng v"));
    if builds.count() > 1 {
        return Err("the viewer asks for other features, so the library was built twice".into());
    }
    // Not with `cargo run`, which takes one package, and sets the variables of .cargo/config.toml.
    ci.command(&format!("cargo build --quiet {VIEWER} --example viewer"))
        .run()?;
    let config = sh.read_file(".cargo/config.toml")?;
    let enables = config
        .lines()
        .find_map(|line| line.strip_prefix("VK_LAYER_ENABLES = "));
    let enables = enables
        .ok_or(".cargo/config.toml has no VK_LAYER_ENABLES")?
        .trim_matches('"');
    let _folder = sh.push_dir(&ci.work);
    let viewer = "../debug/examples/viewer --validate --screenshot viewer.png --panels";
    Ok(ci.vulkan(viewer).env("VK_LAYER_ENABLES", enables).run()?)
}

/// The plugin for Bevy: its tests, the examples of its documentation, and a picture of the example
/// under the validation layer.
pub(crate) fn bevy(ci: &Ci) -> Result {
    let bevy = "-p bevy_throng -p throng-bevy-example";
    ci.command(&format!("cargo build --quiet {bevy} --test bevy --bins"))
        .run()?;
    ci.vulkan(&format!("cargo test --quiet {bevy} --test bevy"))
        .run()?;
    ci.command(&format!("cargo test --quiet {bevy} --doc"))
        .run()?;
    let _folder = ci.sh.push_dir(&ci.work);
    for old in ["bevy.png", "bevy.log"] {
        ci.sh.remove_path(old)?;
    }
    // In debug builds, Bevy turns the validation layer on, and logs its messages as errors.
    let log = ci.work.join("bevy.log");
    let run = ci.vulkan("../debug/bevy --headless --out bevy.png --frames 20");
    let output = log::tee(run, &log)?;
    require_picture(ci, "bevy.png")?;
    expect_no_messages(&output)
}

/// Beside the tests, so that the library is built already. In one call, so that all have the same
/// wgpu.
const ENGINES: &str = "-p throng-wgpu -p throng-wgpu-example -p throng-vk-graph-example \
                       -p throng-tests --features throng-wgpu/noop";

/// Crowds in wgpu and in vk-graph: the tests of the first, a picture of each under the validation
/// layer, and the first in a window.
pub(crate) fn engines(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let build = format!("cargo build --quiet {ENGINES} --test wgpu --bins --example own_shading");
    ci.command(&build).run()?;
    ci.vulkan(&format!("cargo test --quiet {ENGINES} --test wgpu"))
        .run()?;
    ci.command(&format!("cargo test --quiet {ENGINES} --doc"))
        .run()?;
    let older = "-p throng-wgpu --no-default-features --features wgpu-29,noop --test wgpu";
    ci.vulkan(&format!("cargo test --quiet {older}")).run()?;
    let _folder = sh.push_dir(&ci.work);
    // Not with `cargo run`, which takes one package. In debug builds, wgpu turns the validation
    // layer on, and hands its messages to the logger.
    let run = |program: &str| {
        let run = ci.vulkan(&format!("../debug/{program}"));
        run.env("THRONG_VALIDATION", "1").env("RUST_LOG", "warn")
    };
    let log = ci.work.join("wgpu.log");
    for old in ["wgpu.png", "vk_graph.png", "own_shading.png", "wgpu.log"] {
        sh.remove_path(old)?;
    }
    let mut output = log::tee(run("wgpu --headless --out wgpu.png"), &log)?;
    run("vk_graph").run()?;
    run("examples/own_shading").run()?;
    for picture in ["wgpu.png", "vk_graph.png", "own_shading.png"] {
        require_picture(ci, picture)?;
    }
    if ci.has_display() {
        output += &log::tee(run("wgpu --frames 8"), &log)?;
    }
    expect_no_messages(&output)
}

/// Fails if wgpu has logged a message of the validation layer.
fn expect_no_messages(output: &str) -> Result {
    let lines: Vec<&str> = output.lines().collect();
    let messages = lines
        .iter()
        .enumerate()
        .filter(|(_, it)| it.contains("VALIDATION"));
    let mut messages = messages
        .flat_map(|(at, _)| lines[at..].iter().take(2))
        .filter(|line| {
            let is_error = line
                .split_once("Validation")
                .is_some_and(|(_, it)| it.contains("Error"));
            // Layers before 1.3.275 do not know the language of wgpu's shaders.
            is_error && !line.contains("Invalid source language operand: 10")
        });
    match messages.next() {
        Some(message) => Err(format!("a message of the validation layer: {message}").into()),
        None => Ok(()),
    }
}

/// The tests of the command line, which the stage `test` leaves out. With its features, so that the
/// library is built already.
pub(crate) fn cli(ci: &Ci) -> Result {
    let has_models = ci.sh.var("THRONG_ASSETS").is_ok();
    let ignored = if has_models { "--include-ignored" } else { "" };
    let test = "cargo test --quiet -p throng-cli -p throng-tests --features throng-cli/astc";
    let test = format!("{test} --test cli --");
    Ok(ci.vulkan(&format!("{test} {ignored}")).run()?)
}

/// Most examples, in the profile of the tests, for which they are built already.
pub(crate) fn examples(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let _folder = sh.push_dir(&ci.work);
    let example = |line: &str| ci.vulkan(&format!("cargo run --quiet --example {line}"));
    example("crowd -- --headless --frames 8").run()?;
    // Each ends with an error if the validation layer has reported anything.
    let _validation = sh.push_env("THRONG_VALIDATION", "1");
    if !example("shadows -- --pick 320,200")
        .read()?
        .contains("primitive")
    {
        return Err("the example shadows picks no character".into());
    }
    let names =
        "environment own_shader own_pipeline animation ik machine server root_motion".split(' ');
    for name in names.clone() {
        example(name).ignore_stdout().run()?;
    }
    let small = "crowd -- --headless --instances 4 --frames 1 --size 64x64";
    for line in names.chain(["minimal", "shadows", small]) {
        ends_at_a_full_output(example(line))?;
    }
    survives_a_closed_output(example("machine"))?;
    survives_a_closed_output(example(small))
}

/// Runs a program whose output cannot be written, which must end with an error that says so.
fn ends_at_a_full_output(program: Cmd<'_>) -> Result {
    let name = program.to_string();
    let output = Command::from(program)
        .stdout(File::options().write(true).open("/dev/full")?)
        .output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Err(
            format!("with an output that cannot be written, it ends with 0: {name}").into(),
        );
    }
    if !errors.contains("No space left on device") {
        return Err(
            format!("does not report the output that it cannot write: {name}\n{errors}").into(),
        );
    }
    Ok(())
}

/// Runs a program whose reader stops early, which is no error.
pub(crate) fn survives_a_closed_output(program: Cmd<'_>) -> Result {
    let name = program.to_string();
    let mut child = Command::from(program).stdout(Stdio::piped()).spawn()?;
    // Reads the first bytes, and closes the output.
    let first = child
        .stdout
        .take()
        .map(|mut output| output.read(&mut [0; 64]));
    first.transpose()?;
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("with an output that is closed, {status}: {name}").into());
    }
    Ok(())
}

/// Fails unless a picture is in the folder of this run.
pub(crate) fn require_picture(ci: &Ci, name: &str) -> Result {
    match std::fs::metadata(ci.sh.current_dir().join(name)) {
        Ok(file) if file.len() > 0 => Ok(()),
        _ => Err(format!("an example wrote no {name}").into()),
    }
}

#[cfg(test)]
mod tests_of_the_readme {
    use super::*;

    #[test]
    fn the_readme_has_a_test_command() {
        let readme = include_str!("../../README.md");
        assert_eq!(test_command(readme), Some("scripts/with-vulkan cargo test"));
        assert_eq!(test_command("scripts/with-vulkan cargo test --all"), None);
    }
}
