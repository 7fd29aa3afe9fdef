//! Tests of the structure of the source: modules and files import only what is above them.

mod package;
mod source;
mod tokens;

use package::{Arrow, Package, circles};
use source::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The root files of the library and of the packages around it.
const ROOTS: [&str; 9] = [
    "src/lib.rs",
    "wgpu/src/lib.rs",
    "bevy/src/lib.rs",
    "import/src/lib.rs",
    "export/src/lib.rs",
    "cli/src/main.rs",
    "standalone/src/lib.rs",
    "tests/reference/lib.rs",
    "xtask/src/main.rs",
];

static LIBRARY: LazyLock<Package> =
    LazyLock::new(|| Package::read(&repository(), Path::new(ROOTS[0])));

/// The modules in the table of ARCHITECTURE.md, in its order.
fn table() -> Vec<String> {
    let text = std::fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let (_, section) = text.split_once("\n### Modules\n").unwrap();
    let (section, _) = section.split_once("\n#").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|line| line.split('|').nth(1).unwrap());
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

/// The module of a file below `src`.
fn module(file: &Path) -> String {
    let name = file.components().nth(1).unwrap().as_os_str();
    let name = Path::new(name).file_stem().unwrap();
    name.to_string_lossy().into_owned()
}

/// One line for each arrow.
fn lines<'a>(arrows: impl IntoIterator<Item = &'a Arrow>) -> String {
    let line = |arrow: &Arrow| {
        let (from, to) = (arrow.from.display(), arrow.to.display());
        format!("\n{from}:{}: {} of {to}", arrow.line, arrow.path)
    };
    arrows.into_iter().map(line).collect()
}

#[test]
fn the_table_has_every_module_once() {
    let package = &*LIBRARY;
    let table = table();
    let listed: BTreeSet<&str> = table.iter().map(String::as_str).collect();
    assert_eq!(listed, package.top());
    assert_eq!(listed.len(), table.len());
}

#[test]
fn modules_import_only_from_modules_above() {
    let package = &*LIBRARY;
    let table = table();
    let rank: BTreeMap<&str, usize> = table.iter().map(String::as_str).zip(0..).collect();
    let arrows = package.arrows();
    let inside = arrows
        .iter()
        .filter(|arrow| arrow.from != Path::new(ROOTS[0]));
    let upwards = inside.filter(|arrow| {
        let [from, to] = [&arrow.from, &arrow.to].map(|file| module(file));
        rank.get(&*from) < rank.get(&*to)
    });
    let upwards = lines(upwards);
    assert!(upwards.is_empty(), "imports of modules below:{upwards}");
}

/// The exports of the root are defined in modules. Other modules import them from there.
#[test]
fn no_module_names_the_root() {
    let package = &*LIBRARY;
    let found = package.names_of_the_root();
    let line = |(file, path): &(&Path, &source::Path)| {
        format!(
            "\n{}:{}: {}",
            file.display(),
            path.line,
            path.names.join("::")
        )
    };
    let found: String = found.iter().map(line).collect();
    assert!(found.is_empty(), "names of the crate's root:{found}");
}

#[test]
fn no_files_import_in_a_circle() {
    let circle = |root: &str| {
        let arrows = Package::read(&repository(), Path::new(root)).arrows();
        lines(circles(&arrows))
    };
    let found: String = ROOTS.iter().map(|root| circle(root)).collect();
    assert!(found.is_empty(), "imports in circles:{found}");
}

/// The parts of a crowd: the fields of `Scene`, and those of `Crowd` around it.
const PARTS: [&str; 10] = [
    "characters",
    "instances",
    "attachments",
    "visibility",
    "shown",
    "poses",
    "animators",
    "pipelines",
    "memory",
    "frame",
];

#[test]
fn few_files_of_the_crowd_name_many_of_its_parts() {
    let mut files = Vec::new();
    let mut open = vec![repository().join("src/crowd")];
    while let Some(path) = open.pop() {
        match path.is_dir() {
            true => open.extend(
                std::fs::read_dir(path)
                    .unwrap()
                    .map(|it| it.unwrap().path()),
            ),
            false => files.push(path),
        }
    }
    let all = [
        "src/crowd/mod.rs",
        "src/crowd/scene.rs",
        "src/crowd/frame/prepare.rs",
    ];
    files.retain(|file| !all.iter().any(|all| file.ends_with(all)));
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let code: String = code.flat_map(str::split_whitespace).collect();
        let named = PARTS.iter().filter(|part| {
            let owners = ["crowd", "self", "scene"];
            let fields = owners.map(|owner| format!("{owner}.{part}"));
            fields.iter().any(|field| {
                let mut behind = code.split(field.as_str()).skip(1);
                behind.any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            })
        });
        let named: Vec<_> = named.collect();
        assert!(named.len() <= 5, "{} names {named:?}", file.display());
    }
}

/// The tests above are not blind: the reader finds imports in all their forms.
#[test]
fn every_form_of_import_is_read() {
    let source = Source::read(
        r##"
        //! use crate::a::Doc;
        #[cfg(doc)]
        use crate::a::OnlyDoc;
        use crate::{b::{self, B}, c::*};
        pub(in crate::d) use super::e::E as F;
        mod child;
        /* use crate::a::Comment; /* nested */ */
        fn f<'a>(x: &'a str) -> impl Fn() + use<'a> {
            let _ = ("use crate::a::Text;", r#"crate::a::Raw"#, '"', b'\'');
            crate::g::G::new(child::call())
        }
        mod inner {
            use super::super::h::H;
        }
        "##,
    );
    let imports = source.imports.iter();
    let imports = imports.map(|it| format!("{} = {}", it.name, it.path.names.join("::")));
    let expected = [
        "b = crate::b",
        "B = crate::b::B",
        "* = crate::c::*",
        "F = super::e::E",
        "H = super::h::H",
    ];
    assert_eq!(imports.collect::<Vec<_>>(), expected);
    assert_eq!(source.children, ["child"]);
    let paths = source.paths.iter().filter(|path| path.names.len() > 1);
    let paths: Vec<String> = paths.map(|path| path.names.join("::")).collect();
    assert_eq!(paths, ["crate::g::G::new", "child::call"]);
}
