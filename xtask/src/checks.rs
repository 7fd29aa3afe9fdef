//! Checks that run no program. Words and format are first, before everything that takes long.
//! Lints, each feature alone, other targets and documentation mostly use one core, so they run
//! beside the tests. They have a target folder of their own, because two Cargos do not share one at
//! the same time.

use crate::ci::Ci;
use crate::platforms;
use crate::result::Result;
use std::time::Instant;
use xshell::cmd;

/// Checks of seconds, which fail most often: words, format, shell scripts, and the tests of xtask.
pub(crate) fn scripts(ci: &Ci) -> Result {
    let sh = &ci.sh;
    words(ci)?;
    cmd!(sh, "cargo fmt --all --check").run()?;
    let scripts: Vec<_> = [sh.read_dir(".ci")?, sh.read_dir("scripts")?].concat();
    cmd!(sh, "shellcheck {scripts...}").run()?;
    let status = cmd!(sh, "scripts/with-vulkan sh -c 'exit 7'")
        .ignore_status()
        .output()?
        .status;
    if status.code() != Some(7) {
        return Err(format!("scripts/with-vulkan made {status} of status 7").into());
    }
    Ok(cmd!(sh, "cargo test --quiet -p xtask").run()?)
}

type Check = (&'static str, fn(&Ci) -> Result);

pub(crate) fn run(ci: &Ci) -> Result {
    let _target = ci.sh.push_env("CARGO_TARGET_DIR", "target/checks");
    let mut checks: Vec<Check> = vec![("clippy", lints), ("features", features), ("docs", docs)];
    if ci.share.has("windows") {
        checks.push(("windows", platforms::build_windows));
    }
    for (name, check) in checks {
        println!("-- {name}");
        let start = Instant::now();
        check(ci).map_err(|error| format!("the check {name}: {error}"))?;
        println!("   {} s", start.elapsed().as_secs());
    }
    Ok(())
}

/// Fails if a comment or a page breaks a rule of style that a search can find. Prints each line.
/// Files that are not committed yet are searched, too.
fn words(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let grep = |pattern: &str, files: &[&str]| -> Result<String> {
        // This file has the patterns themselves.
        let grep = cmd!(
            sh,
            "git grep --untracked -nE {pattern} -- {files...} :!xtask/src/checks.rs"
        );
        Ok(grep.quiet().ignore_status().read()?)
    };
    // A doc line begins with its subject or its verb.
    let begins = r"^ *//[/!] (What|How|Where|Who|Whoever|Whether|Those)\b";
    let phrases = r"\b([Ww]hoever|stands? for|at hand|the caller's word|as it stands|is had|of which the|that there (is|are) not)\b";
    let mut found = grep(begins, &["*.rs"])? + "\n" + &grep(phrases, &["*.rs", "*.md"])?;
    // rustfmt checks code.
    let lines = grep("^ *//", &["*.rs"])? + "\n" + &grep("", &["*.md"])?;
    for line in lines.lines().filter(|line| is_wide(line)) {
        found = found + "\n" + line;
    }
    match found.trim() {
        "" => Ok(()),
        found => Err(format!("words or widths that break a rule:\n{found}").into()),
    }
}

/// True for a line of `git grep -n` whose text has more than 100 columns, unless it is a row of a
/// table or has a link.
fn is_wide(line: &str) -> bool {
    let text = line.splitn(3, ':').nth(2).unwrap_or_default();
    let bare = text
        .trim_start()
        .trim_start_matches(['/', '!'])
        .trim_start();
    let is_one_word = !bare.contains(' ');
    let is_link = text.contains("http://") || text.contains("https://");
    text.chars().count() > 100 && !bare.starts_with('|') && !is_one_word && !is_link
}

/// Lints. wgpu, vk-graph and Bevy are hundreds of crates, so what uses them has its turn.
fn lints(ci: &Ci) -> Result {
    let engines = match ci.share.has("engines") {
        true => "--exclude throng-wgpu",
        false => {
            "--exclude throng-wgpu --exclude throng-wgpu-example --exclude throng-vk-graph-example"
        }
    };
    // With Bevy, the crate for wgpu has another feature. So these are linted apart from others.
    let bevy = "--exclude bevy_throng --exclude throng-bevy-example";
    let lint = |what: &str| -> Result {
        let lint = format!("cargo clippy --quiet {what} -- -D warnings");
        Ok(ci.command(&lint).run()?)
    };
    if ci.share.has("engines") {
        // Its features exclude each other.
        lint("--all-targets -p throng-wgpu --features noop")?;
        lint("--all-targets -p throng-wgpu --no-default-features --features wgpu-29,noop")?;
    }
    if ci.share.has("bevy") {
        lint("--all-targets -p bevy_throng -p throng-bevy-example")?;
        // With the features of Bevy that it asks for, and no others.
        lint("--lib -p bevy_throng --no-default-features")?;
    }
    lint(&format!(
        "--all-targets --workspace --all-features {engines} {bevy}"
    ))
}

/// A part of what is compiled alone. A feature whose code needs another one may pass, and is found
/// by one of the next commits. The check `clippy` compiles all features together in each commit.
fn features(ci: &Ci) -> Result {
    let sh = &ci.sh;
    // `shaderc` has code in the build script alone, which the check `clippy` compiles with it.
    let features = "vulkan decode lod serde toml tracing".split(' ');
    let readers = "gltf meshopt draco ktx2 webp fbx ezm wgl".split(' ');
    // The library and the readers without features, the command line without its feature, which
    // needs a C compiler, the fuzz targets, which are no member of the workspace, and the committed
    // SPIR-V.
    let others = "none reader cli fuzz arm shaders".split(' ');
    let all = features.chain(readers.clone()).chain(others);
    let count = all.clone().count();
    let sample = ci.share.sample(all, 9);
    println!("   A SAMPLE: {} of {count}", sample.len());
    for one in sample {
        println!("   {one}");
        let clippy = |package: &str, features: &str| {
            let clippy = "cargo clippy --quiet --lib --no-default-features";
            let clippy = format!("{clippy} -p {package} {features} -- -D warnings");
            ci.command(&clippy).run()
        };
        let feature = format!("--features {one}");
        match one {
            "none" => clippy("throng", "")?,
            "reader" => clippy("throng-import", "")?,
            "cli" => cmd!(sh, "cargo clippy --quiet -p throng-cli -- -D warnings").run()?,
            "fuzz" => cmd!(sh, "cargo check --quiet --manifest-path fuzz/Cargo.toml").run()?,
            "arm" => arm(ci)?,
            "shaders" => shaders(ci)?,
            _ if readers.clone().any(|it| it == one) => clippy("throng-import", &feature)?,
            _ => clippy("throng", &feature)?,
        }
    }
    Ok(())
}

/// Compiles the shaders again, and compares the committed SPIR-V.
fn shaders(ci: &Ci) -> Result {
    let check = cmd!(ci.sh, "scripts/compile-shaders --check");
    // `cargo xtask` has set the folder that .cargo/config.toml names. The script looks for itself.
    let check = match ci.sh.var("THRONG_SHADERC") {
        Ok(_) => check,
        Err(_) => check.env_remove("SHADERC_LIB_DIR"),
    };
    Ok(check.run()?)
}

/// Lints of the animation level with NEON's code.
fn arm(ci: &Ci) -> Result {
    let target = "aarch64-unknown-linux-gnu";
    if !platforms::add_target(ci, target) {
        return Ok(());
    }
    let lints = "cargo clippy --quiet -p throng --lib --no-default-features --features toml";
    Ok(ci
        .command(&format!("{lints} --target {target} -- -D warnings"))
        .run()?)
}

/// The documentation, with that of the crate for wgpu in its turn.
fn docs(ci: &Ci) -> Result {
    let readers = "fbx ezm wgl meshopt draco ktx2 webp tracing".split(' ');
    let readers: String = readers
        .map(|it| format!(" --features throng-import/{it}"))
        .collect();
    let engines = match ci.share.has("engines") {
        true => "-p throng-wgpu",
        false => "",
    };
    let _flags = ci.sh.push_env("RUSTDOCFLAGS", "-Dwarnings");
    let docs = "cargo doc --quiet --no-deps -p throng -p throng-import -p throng-export \
                -p throng-standalone --features throng/lod";
    Ok(ci.command(&format!("{docs} {engines} {readers}")).run()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_lines_are_found() {
        let of = |text: &str| is_wide(&format!("src/lib.rs:7:{text}"));
        assert!(!of(&format!("// {}", "ab ".repeat(32).trim())));
        assert!(of(&format!("// {}", "ab ".repeat(33).trim())));
        assert!(!of(&format!("// | {}", "ab ".repeat(40))));
        assert!(!of(&format!("//! {}", "ab".repeat(60))));
        assert!(!of(&format!(
            "see https://example.org {}",
            "ab ".repeat(40)
        )));
    }
}
