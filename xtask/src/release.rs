//! Stages that look at what a dependent gets.

use crate::ci::Ci;
use crate::result::Result;
use crate::tests::require_picture;
use std::path::{Path, PathBuf};
use xshell::cmd;

/// No Vulkan unless it is asked for, never a C or C++ compiler, and `deny.toml`.
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
    let deny = tool(ci, "cargo-deny", &["--no-default-features"])?;
    let check = cmd!(sh, "{deny} --all-features check --hide-inclusion-graph");
    Ok(check.args(["licenses", "bans", "sources"]).run()?)
}

/// The published package has its files, compiles, and its example draws.
pub(crate) fn package(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let list = cmd!(sh, "cargo package -p throng --list --allow-dirty").read()?;
    let files = [
        "README.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "build.rs",
        "build/shaders.rs",
        "shaders/spv/MANIFEST",
    ];
    if let Some(file) = files
        .iter()
        .find(|file| !list.lines().any(|line| line == **file))
    {
        return Err(format!("the package lacks {file}").into());
    }
    // Together, because none is published.
    let packages = "cargo package --quiet -p throng -p throng-import -p throng-standalone";
    let packages = format!("{packages} --no-verify --allow-dirty");
    ci.command(&packages).run()?;
    let unpacked = ci.work.join("package");
    sh.remove_path(&unpacked)?;
    sh.create_dir(&unpacked)?;
    let unpack = |name: &str| -> Result<PathBuf> {
        let version = version(ci, name)?;
        cmd!(
            sh,
            "tar -xf target/package/{name}-{version}.crate -C {unpacked}"
        )
        .run()?;
        Ok(unpacked.join(format!("{name}-{version}")))
    };
    let library = unpack("throng")?;
    let target = Path::new(&ci.root).join("target");
    // With the dependencies that are built already.
    let check = |package: &Path| {
        let manifest = package.join("Cargo.toml");
        let patch = format!("patch.crates-io.throng.path = '{}'", library.display());
        let check = cmd!(sh, "cargo check --quiet --manifest-path {manifest}");
        check
            .args(["--config", &patch, "--target-dir"])
            .arg(&target)
            .run()
    };
    check(&unpack("throng-import")?)?;
    check(&unpack("throng-standalone")?)?;
    // Without the dev-dependencies on packages that depend on this one.
    let manifest = library.join("Cargo.toml");
    if sh
        .read_file(&manifest)?
        .contains("\n[dev-dependencies.throng")
    {
        return Err("the package depends on itself".into());
    }
    let (manifest, target) = (manifest.display(), target.display());
    let options = format!("--quiet --manifest-path {manifest} --target-dir {target}");
    ci.command(&format!("cargo check {options}")).run()?;
    let _folder = sh.push_dir(&unpacked);
    // Not optimised: it runs for a second.
    let run = ci.vulkan(&format!("cargo run {options} --example minimal"));
    run.args(["--config", "profile.dev.package.throng.opt-level=0"])
        .run()?;
    require_picture(ci, "minimal.png")
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
    let newest = version(ci, "glam")?;
    for glam in [format!("{oldest}.0"), newest] {
        cmd!(sh, "scripts/try-minimal {glam}").run()?;
    }
    Ok(())
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
    let check = cmd!(
        sh,
        "{semver} semver-checks -p throng --baseline-rev {release}"
    );
    Ok(check.run()?)
}

/// The version of a package in the lock.
fn version(ci: &Ci, name: &str) -> Result<String> {
    let id = cmd!(ci.sh, "cargo pkgid -p {name}").quiet().read()?;
    Ok(id.rsplit(['#', '@']).next().unwrap_or_default().to_owned())
}

/// A subcommand of Cargo: the machine's own, or one that is built here and kept in target/ci. It
/// runs for seconds, so it is built without optimisation.
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
