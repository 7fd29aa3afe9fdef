//! Stages that look at what a dependent needs, and at the API that it has.

use crate::ci::Ci;
use crate::packages;
use crate::result::Result;
use xshell::cmd;

/// No Vulkan unless it is asked for, never a C or C++ compiler, no newer Rust, and `deny.toml`.
pub(crate) fn dependencies(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let rules = [
        (
            "-p throng -e normal --no-default-features",
            &["ash", "gpu-allocator"][..],
            "without features there is Vulkan",
        ),
        (
            "-p throng -e normal",
            &["ash-window", "raw-window-handle"],
            "the library has dependencies of programs without an engine",
        ),
        (
            "-p throng -p throng-import -p throng-cli -e normal,build",
            &["cc", "cmake", "shaderc", "link-cplusplus"],
            "the build needs a C compiler",
        ),
    ];
    for (packages, forbidden, fault) in rules {
        let tree = ci
            .command(&format!("cargo tree --prefix none {packages}"))
            .quiet()
            .read()?;
        let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        if let Some(line) = tree.lines().find(|line| forbidden.contains(&&*name(line))) {
            return Err(format!("{fault}: {line}").into());
        }
    }
    packages::expect_rust_versions(&packages::metadata(ci)?)?;
    let deny = tool(ci, "cargo-deny", &["--no-default-features"])?;
    let check = cmd!(sh, "{deny} --all-features check --hide-inclusion-graph");
    Ok(check.args(["licenses", "bans", "sources"]).run()?)
}

/// The first steps of a newcomer: an empty crate with the README's dependencies.
pub(crate) fn minimal(ci: &Ci) -> Result {
    Ok(cmd!(ci.sh, "scripts/try-minimal").run()?)
}

/// Engines whose own glam is the oldest or the newest that the library takes.
pub(crate) fn glam(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let manifest = sh.read_file("Cargo.toml")?;
    let range = manifest.split_once("\nglam = { version = \">=");
    let oldest = range.and_then(|(_, rest)| rest.split(',').next());
    let oldest = oldest.ok_or("Cargo.toml has no range of versions of glam")?;
    // Other packages of the workspace may have another one.
    let newest = version_of(ci, "glam", "throng")?;
    for glam in [format!("{oldest}.0"), newest] {
        cmd!(sh, "scripts/try-minimal {glam}").run()?;
    }
    Ok(())
}

/// A program in which the plugin for Bevy and throng have Bevy's own glam, as its lock says.
pub(crate) fn bevys_glam(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let root = &ci.root;
    let bevys = version_of(ci, "glam", "bevy_math")?;
    let program = ci.work.join("bevys-glam");
    sh.create_dir(program.join("src"))?;
    let manifest = format!(
        "[package]\nname = \"bevys-glam\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         glam = \"={bevys}\"\nbevy_throng = {{ path = \"{root}/bevy\" }}\n"
    );
    sh.write_file(program.join("Cargo.toml"), manifest)?;
    let same = "const _: fn(glam::Mat4) -> bevy_throng::throng::glam::Mat4 = |it| it;\n";
    sh.write_file(program.join("src/lib.rs"), same)?;
    sh.copy_file("Cargo.lock", program.join("Cargo.lock"))?;
    let _target = sh.push_env("CARGO_TARGET_DIR", format!("{root}/target"));
    let _folder = sh.push_dir(&program);
    // Removes what the program does not need from the lock.
    let throngs = version_of(ci, "glam", "throng")?;
    let update = format!("cargo update --quiet -p glam@{throngs} --precise {bevys}");
    ci.command(&update).run()?;
    Ok(ci.command("cargo check --quiet").run()?)
}

/// The version of a dependency that a package of the workspace, or one of its own, has.
pub(crate) fn version_of(ci: &Ci, dependency: &str, package: &str) -> Result<String> {
    let tree = format!("cargo tree --prefix none --depth 1 -p {package} -e normal");
    let tree = ci.command(&tree).quiet().read()?;
    let mut lines = tree.lines().flat_map(|line| line.split_once(" v"));
    let version = lines.find_map(|(name, version)| (name == dependency).then_some(version));
    let version = version.and_then(|it| it.split(' ').next());
    let missing = || format!("{package} does not depend on {dependency}");
    Ok(version.ok_or_else(missing)?.to_owned())
}

/// The published packages with the oldest Rust that they state, if this machine has it.
pub(crate) fn rust_version(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let published = packages::published(&packages::metadata(ci)?);
    let rust = published.first().map(|it| it.rust_version.clone());
    let rust = rust.ok_or("no package is published")?;
    // rustup must not install it unasked.
    let _rustup = sh.push_env("RUSTUP_AUTO_INSTALL", "0");
    let compiler = cmd!(sh, "cargo +{rust} --version").quiet();
    if compiler.output().is_err() {
        println!("RUST {rust} IS MISSING: Clippy and the versions of dependencies were checked");
        println!("(rustup toolchain install {rust} --profile minimal)");
        return Ok(());
    }
    // `shaderc` is built from source where it is not packaged.
    let _target = sh.push_env("CARGO_TARGET_DIR", "target/rust-version");
    let check = "check --quiet --locked";
    // The features of the crate for wgpu exclude each other.
    ci.command(&format!("cargo +{rust} {check} -p throng-wgpu"))
        .run()?;
    let names = published.iter().map(|it| it.name.as_str());
    // The program and the crate for Bevy state the newer Rust of what they are built with.
    let newer = ["throng-wgpu", "bevy_throng", "throng-cli"];
    let names = names.filter(|it| !newer.contains(it));
    let names: Vec<&str> = names.flat_map(|it| ["-p", it]).collect();
    let names = names.join(" ");
    Ok(ci
        .command(&format!("cargo +{rust} {check} --all-features {names}"))
        .run()?)
}

/// The API against that of the last release. Before the first one, there is nothing to break.
pub(crate) fn semver(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let last = cmd!(sh, "git describe --tags --abbrev=0 --match v[0-9]*")
        .quiet()
        .ignore_stderr();
    let Ok(release) = last.read() else {
        println!("NO RELEASE YET: no tag v* to compare the API with");
        return Ok(());
    };
    let semver = tool(ci, "cargo-semver-checks", &[])?;
    let published = packages::published(&packages::metadata(ci)?);
    for package in published.iter().filter(|it| it.is_library) {
        let name = &package.name;
        let check = cmd!(
            sh,
            "{semver} semver-checks -p {name} --baseline-rev {release}"
        );
        let features = package.features.iter().flat_map(|it| ["--features", it]);
        check.arg("--default-features").args(features).run()?;
    }
    Ok(())
}

/// A subcommand of Cargo: the machine's own, or one that is built here and kept in target/ci. It
/// runs for seconds, so it is built without optimisation. That of cargo-semver-checks, of 291
/// crates, took 11 minutes on two cores beside other work.
fn tool(ci: &Ci, name: &str, options: &[&str]) -> Result<String> {
    let sh = &ci.sh;
    if cmd!(sh, "{name} --version").quiet().output().is_ok() {
        return Ok(name.to_owned());
    }
    let tools = ci.work.join("tools");
    let program = tools.join("bin").join(name);
    if !program.exists() {
        println!("building {name}");
        let install = cmd!(
            sh,
            "cargo install --quiet --locked --debug --root {tools} {name}"
        );
        install.args(options).run()?;
    }
    Ok(program.to_string_lossy().into_owned())
}
