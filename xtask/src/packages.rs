//! The published packages: their files, the Rust that they need, and their documentation.

use crate::ci::Ci;
use crate::result::Result;
use crate::tests::require_picture;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use xshell::cmd;

/// A package that goes to crates.io.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) name: String,
    pub(crate) rust_version: String,
    pub(crate) is_library: bool,
    /// The features of its documentation on docs.rs, beyond the default ones.
    pub(crate) features: Vec<String>,
    id: String,
}

impl Published {
    fn new(package: &Value) -> Self {
        let docs = &package["metadata"]["docs"]["rs"];
        let features = match (&package["features"], &docs["all-features"]) {
            (Value::Object(all), Value::Bool(true)) => all.keys().cloned().collect(),
            _ => items(docs, "features").map(text).collect(),
        };
        let mut kinds = items(package, "targets").flat_map(|target| items(target, "kind"));
        Self {
            name: text(&package["name"]),
            rust_version: text(&package["rust_version"]),
            is_library: kinds.any(|kind| kind == "lib"),
            features,
            id: text(&package["id"]),
        }
    }
}

/// The facts that Cargo knows about the workspace and all its dependencies, with all features.
pub(crate) fn metadata(ci: &Ci) -> Result<Value> {
    let metadata = ci.command("cargo metadata --format-version 1 --all-features");
    Ok(serde_json::from_str(&metadata.quiet().read()?)?)
}

/// The members of the workspace that are published.
pub(crate) fn published(metadata: &Value) -> Vec<Published> {
    let members: BTreeSet<String> = items(metadata, "workspace_members").map(text).collect();
    // `publish = false` is an empty list of registries.
    let is_published = |it: &&Value| members.contains(&text(&it["id"])) && it["publish"].is_null();
    let packages = items(metadata, "packages").filter(is_published);
    packages.map(Published::new).collect()
}

fn items<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The version of a package of the workspace.
fn version(ci: &Ci, name: &str) -> Result<String> {
    let id = cmd!(ci.sh, "cargo pkgid -p {name}").quiet().read()?;
    Ok(id.rsplit(['#', '@']).next().unwrap_or_default().to_owned())
}

/// Fails if a package that is built with a published one states a newer Rust.
pub(crate) fn expect_rust_versions(metadata: &Value) -> Result {
    let by_id = |list: &'static str, of: &'_ Value| -> BTreeMap<String, Value> {
        let items = items(of, list).map(|it| (text(&it["id"]), it.clone()));
        items.collect()
    };
    let packages = by_id("packages", metadata);
    let nodes = by_id("nodes", &metadata["resolve"]);
    for published in published(metadata) {
        let mut seen = BTreeSet::new();
        let mut left = vec![published.id.clone()];
        while let Some(id) = left.pop() {
            let package = &packages[&id];
            let needed = text(&package["rust_version"]);
            if numbers(&needed) > numbers(&published.rust_version) {
                let (name, stated) = (published.name, published.rust_version);
                let other = format!("{} {}", package["name"], package["version"]);
                return Err(format!("{name} states Rust {stated}: {other} needs {needed}").into());
            }
            for dependency in items(&nodes[&id], "deps") {
                let is_built = items(dependency, "dep_kinds").any(|it| it["kind"] != "dev");
                let id = text(&dependency["pkg"]);
                if is_built && seen.insert(id.clone()) {
                    left.push(id);
                }
            }
        }
    }
    Ok(())
}

/// The numbers of a version, without zeros at its end.
fn numbers(version: &str) -> Vec<u32> {
    let numbers = version.split('.').map(|it| it.parse().unwrap_or_default());
    let mut numbers: Vec<u32> = numbers.collect();
    while numbers.pop_if(|last| *last == 0).is_some() {}
    numbers
}

/// The packages as Cargo would publish them, each compiled alone, and the example that draws.
///
/// Everything but the upload. A commit's turn leaves out the crate for wgpu and the command line.
pub(crate) fn publish(ci: &Ci) -> Result {
    let sh = &ci.sh;
    let packages = match ci.share.is_all() {
        true => "--workspace",
        false => "-p throng -p throng-import -p throng-standalone",
    };
    // In seconds instead of minutes. A package states no profile of its own.
    let unoptimised = ["--config", "profile.dev.package.throng.opt-level=0"];
    let publish = format!("cargo publish --quiet --dry-run --allow-dirty {packages}");
    ci.command(&publish).args(unoptimised).run()?;
    let folder = Path::new(&ci.root).join("target/package");
    for package in published(&metadata(ci)?) {
        let unpacked = folder.join(format!("{}-{}", package.name, version(ci, &package.name)?));
        if unpacked.exists() {
            expect_files(&unpacked, &["LICENSE-MIT", "LICENSE-APACHE"])?;
        }
    }
    let library = folder.join(format!("throng-{}", version(ci, "throng")?));
    let shaders = ["build/shaders.rs", "shaders/spv/MANIFEST"];
    expect_files(&library, &shaders)?;
    let manifest = library.join("Cargo.toml");
    // Dev-dependencies on packages that depend on this one.
    if sh
        .read_file(&manifest)?
        .contains("\n[dev-dependencies.throng")
    {
        return Err("the package depends on itself".into());
    }
    let _folder = sh.push_dir(&ci.work);
    sh.remove_path("minimal.png")?;
    // With the dependencies that are built already.
    let (manifest, target) = (manifest.display(), Path::new(&ci.root).join("target"));
    let options = format!(
        "--quiet --manifest-path {manifest} --target-dir {}",
        target.display()
    );
    let run = ci.vulkan(&format!("cargo run {options} --example minimal"));
    run.args(unoptimised).run()?;
    require_picture(ci, "minimal.png")
}

fn expect_files(package: &Path, files: &[&str]) -> Result {
    match files.iter().find(|file| !package.join(file).is_file()) {
        Some(file) => Err(format!("{} lacks {file}", package.display()).into()),
        None => Ok(()),
    }
}

/// The documentation with the features and the `cfg` of docs.rs, which has a nightly compiler.
pub(crate) fn docs_rs(ci: &Ci) -> Result {
    let sh = &ci.sh;
    // This compiler accepts the nightly feature `doc_cfg` then. In a folder of its own, because
    // build scripts run anew.
    let _nightly = sh.push_env("RUSTC_BOOTSTRAP", "1");
    let _flags = sh.push_env("RUSTDOCFLAGS", "--cfg docsrs -Dwarnings");
    let _target = sh.push_env("CARGO_TARGET_DIR", "target/docs-rs");
    let libraries = published(&metadata(ci)?);
    let is_now = |name: &str| ci.share.is_all() || name != "throng-wgpu" && name != "bevy_throng";
    for package in libraries
        .iter()
        .filter(|it| it.is_library && is_now(&it.name))
    {
        let name = &package.name;
        let features = package.features.iter().flat_map(|it| ["--features", it]);
        let docs = cmd!(sh, "cargo doc --quiet --no-deps -p {name}").args(features);
        docs.run()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_dependency_that_needs_a_newer_rust_is_found() {
        let of = |rust: &str, kind: Value| {
            let stated = json!({ "id": "a", "name": "a", "rust_version": "1.89" });
            let needed = json!({ "id": "b", "name": "b", "rust_version": rust });
            let deps = json!([{ "pkg": "b", "dep_kinds": [{ "kind": kind }] }]);
            expect_rust_versions(&json!({
                "workspace_members": ["a"],
                "packages": [stated, needed],
                "resolve": { "nodes": [{ "id": "a", "deps": deps }, { "id": "b", "deps": [] }] },
            }))
        };
        assert!(of("1.89.0", Value::Null).is_ok());
        assert!(of("1.90", json!("dev")).is_ok());
        assert!(of("1.90", Value::Null).is_err());
        assert!(of("1.100", json!("build")).is_err());
    }
}
