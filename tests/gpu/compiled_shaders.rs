//! The build script's check that the committed SPIR-V is compiled from the sources.
//!
//! It passes for this crate, and it detects and names every planted fault.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../build/shaders.rs"]
#[allow(
    dead_code,
    reason = "what the build script and its compiler use besides"
)]
mod shaders;

use shaders::{Built, Hash, Manifest, check, find, rust_source, source_hash};

type Outcome = Result<(), Box<dyn Error>>;

const MAGIC: u32 = 0x0723_0203;

/// The shader folder of this crate.
fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shaders")
}

/// A fresh folder for one test.
fn scratch(test: &str) -> std::io::Result<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("../shaders")
        .join(test);
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir_all(&dir)?;
    Ok(dir)
}

/// Writes a file, with the folders above it.
fn put(dir: &Path, file: &str, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
    let path = dir.join(file);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes)
}

/// Records the files in `dir` as they are, with made-up SPIR-V, as the compile command would.
fn record(dir: &Path) -> Outcome {
    let mut manifest = Manifest {
        compiler: "a compiler 1.2".to_owned(),
        shaders: [].into(),
    };
    for (index, name) in find(dir)?.into_iter().enumerate() {
        let words = [MAGIC, 0x0001_0600, u32::try_from(index)?];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        put(dir, &format!("spv/{name}.spv"), &bytes)?;
        let hashes = (source_hash(dir, &name)?, Hash::EMPTY.and(&bytes));
        manifest.shaders.insert(name, hashes);
    }
    Ok(put(dir, "spv/MANIFEST", manifest.to_string())?)
}

/// Records three shaders. Two share an include, which includes another. One is for tests.
fn planted(test: &str) -> Result<PathBuf, Box<dyn Error>> {
    let dir = scratch(test)?;
    put(&dir, "README.md", "not a shader\n")?;
    put(
        &dir,
        "include/shared.glsl",
        "#include \"beside.glsl\"\nfloat one = 1.0;\n",
    )?;
    put(&dir, "include/beside.glsl", "float two = 2.0;\n")?;
    put(
        &dir,
        "cull.comp",
        "#version 460\n  # include  <include/shared.glsl>\nvoid main() {}\n",
    )?;
    put(
        &dir,
        "crowd.vert",
        "#version 460\n// #include \"no\"\nvoid main() {}\n",
    )?;
    put(
        &dir,
        "test/probe.comp",
        "#include \"include/shared.glsl\"\nvoid main() {}\n",
    )?;
    record(&dir)?;
    assert_eq!(complaints(&dir), [""; 0]);
    Ok(dir)
}

fn complaints(dir: &Path) -> Vec<String> {
    let errors = check(dir).err().unwrap_or_default();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn the_committed_spirv_is_fresh() {
    assert_eq!(complaints(&own()), [""; 0]);
}

/// SPIR-V 1.6 states the sizes of workgroups as `LocalSizeId`, which needs `maintenance4`.
#[test]
fn the_committed_spirv_is_1_5_at_most() -> Outcome {
    const EXECUTION_MODE_ID: u32 = 331;
    for name in find(&own())? {
        let bytes = fs::read(own().join(format!("spv/{name}.spv")))?;
        let words: Vec<u32> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word))
            .collect();
        assert!(words[1] <= 0x0001_0500, "{name}: version {:#x}", words[1]);
        let mut at = 5;
        while at < words.len() {
            assert_ne!(words[at] & 0xFFFF, EXECUTION_MODE_ID, "{name}");
            at += (words[at] >> 16).max(1) as usize;
        }
    }
    Ok(())
}

#[test]
fn every_committed_shader_goes_stale_with_its_text() -> Outcome {
    let dir = scratch("own")?;
    let names = find(&own())?;
    let manifest = fs::read(own().join("spv/MANIFEST"))?;
    copy(&own(), &dir)?;
    for name in &names {
        let text = fs::read_to_string(dir.join(name))?;
        put(&dir, name, format!("{text}\n"))?;
    }
    let stale = |name| {
        format!(
            "shaders/{name} is stale: its SPIR-V was made from other text or flags; run \
             scripts/compile-shaders"
        )
    };
    assert_eq!(
        complaints(&dir),
        names.iter().map(stale).collect::<Vec<_>>()
    );
    assert_eq!(
        fs::read(dir.join("spv/MANIFEST"))?,
        manifest,
        "checking writes nothing"
    );
    Ok(())
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

#[test]
fn no_shaders_at_all_are_fresh() -> Outcome {
    let dir = scratch("none")?;
    record(&dir)?;
    assert_eq!(check(&dir).ok(), Some(Vec::new()));
    Ok(())
}

#[test]
fn line_endings_do_not_matter() -> Outcome {
    let dir = planted("line_endings")?;
    for file in ["cull.comp", "include/shared.glsl", "spv/MANIFEST"] {
        let text = fs::read_to_string(dir.join(file))?;
        put(&dir, file, text.replace('\n', "\r\n"))?;
    }
    assert_eq!(complaints(&dir), [""; 0]);
    Ok(())
}

#[test]
fn an_edited_include_makes_stale_what_includes_it() -> Outcome {
    let dir = planted("include")?;
    put(&dir, "include/beside.glsl", "float two = 2.5;\n")?;
    assert_eq!(
        complaints(&dir),
        [
            "shaders/cull.comp is stale: its SPIR-V was made from other text or flags; run \
             scripts/compile-shaders",
            "shaders/test/probe.comp is stale: its SPIR-V was made from other text or flags; run \
             scripts/compile-shaders",
        ]
    );
    Ok(())
}

#[test]
fn a_missing_include_is_named_with_its_line() -> Outcome {
    let dir = planted("missing_include")?;
    fs::remove_file(dir.join("include/beside.glsl"))?;
    put(
        &dir,
        "crowd.vert",
        "#version 460\n#include \"../outside.glsl\"\n",
    )?;
    let missing =
        "shaders/include/shared.glsl:1: there is no \"beside.glsl\" beside it or in shaders/";
    assert_eq!(
        complaints(&dir),
        [
            "shaders/crowd.vert:2: there is no \"../outside.glsl\" beside it or in shaders/",
            missing,
            missing,
        ]
    );
    Ok(())
}

#[test]
fn includes_may_be_circular_but_not_bottomless() -> Outcome {
    let dir = planted("circle")?;
    put(&dir, "include/beside.glsl", "#include \"shared.glsl\"\n")?;
    record(&dir)?;
    assert_eq!(complaints(&dir), [""; 0]);
    for depth in 0..40 {
        let text = format!("#include \"deep{}.glsl\"\n", depth + 1);
        put(&dir, &format!("include/deep{depth}.glsl"), text)?;
    }
    put(&dir, "crowd.vert", "#include \"include/deep0.glsl\"\n")?;
    assert_eq!(
        complaints(&dir),
        ["shaders/include/deep16.glsl: includes nest 17 deep; does it include itself?"]
    );
    Ok(())
}

#[test]
fn missing_spirv_is_named() -> Outcome {
    let dir = planted("missing")?;
    fs::remove_file(dir.join("spv/cull.comp.spv"))?;
    assert_eq!(
        complaints(&dir),
        ["shaders/spv/cull.comp.spv is missing; run scripts/compile-shaders"]
    );
    Ok(())
}

#[test]
fn altered_spirv_is_named_with_both_hashes() -> Outcome {
    let dir = planted("altered")?;
    put(&dir, "spv/cull.comp.spv", "")?;
    let recorded = Manifest::read(&dir)?.shaders["cull.comp"].1;
    assert_eq!(
        complaints(&dir),
        [format!(
            "shaders/spv/cull.comp.spv has the hash 6c62272e07bb014262b821756295c58d, but \
             shaders/spv/MANIFEST records {recorded}; run scripts/compile-shaders"
        )]
    );
    Ok(())
}

#[test]
fn what_is_recorded_but_no_spirv_is_named() -> Outcome {
    for (test, bytes) in [
        ("no_magic", &[1, 2, 3, 4][..]),
        ("odd", &[3, 2, 0x23, 7, 0]),
        ("no_words", &[]),
    ] {
        let dir = planted(test)?;
        put(&dir, "spv/cull.comp.spv", bytes)?;
        let mut manifest = Manifest::read(&dir)?;
        if let Some(hashes) = manifest.shaders.get_mut("cull.comp") {
            hashes.1 = Hash::EMPTY.and(bytes);
        }
        put(&dir, "spv/MANIFEST", manifest.to_string())?;
        assert_eq!(
            complaints(&dir),
            [format!(
                "shaders/spv/cull.comp.spv ({} bytes) is not a SPIR-V module; run \
                 scripts/compile-shaders",
                bytes.len()
            )]
        );
    }
    Ok(())
}

#[test]
fn a_shader_that_was_never_compiled_is_named() -> Outcome {
    let dir = planted("unlisted")?;
    put(&dir, "skin.comp", "void main() {}\n")?;
    assert_eq!(
        complaints(&dir),
        [
            "shaders/skin.comp is not in shaders/spv/MANIFEST: it was never compiled; run \
             scripts/compile-shaders"
        ]
    );
    Ok(())
}

#[test]
fn spirv_without_a_source_is_named() -> Outcome {
    let dir = planted("orphan")?;
    fs::remove_file(dir.join("crowd.vert"))?;
    put(&dir, "spv/test/old.comp.spv", "")?;
    let remedy = "has no source in shaders/; run scripts/compile-shaders, which removes it";
    assert_eq!(
        complaints(&dir),
        [
            format!("shaders/spv/crowd.vert.spv {remedy}"),
            format!("shaders/spv/test/old.comp.spv {remedy}"),
            format!("the line \"crowd.vert\" of shaders/spv/MANIFEST {remedy}"),
        ]
    );
    Ok(())
}

#[test]
fn a_manifest_that_is_none_is_named_with_the_line() -> Outcome {
    let dir = planted("manifest")?;
    let zeros = "0".repeat(32);
    for (text, line, why) in [
        ("", 1, "there is no line `compiler: …`"),
        (
            "compiler: x\nabc\n",
            2,
            "a line is a source hash, an output hash and a name",
        ),
        (
            "compiler: x\n0 0 a.vert\n",
            2,
            "a hash is 32 hexadecimal digits",
        ),
        (
            &format!("compiler: x\n{zeros} {zeros} a.vert\n{zeros} {zeros} a.vert\n"),
            3,
            "this name stands in an earlier line, too",
        ),
    ] {
        put(&dir, "spv/MANIFEST", text)?;
        let expected = format!("shaders/spv/MANIFEST:{line}: {why}; run scripts/compile-shaders");
        assert_eq!(complaints(&dir), [expected]);
    }
    fs::remove_file(dir.join("spv/MANIFEST"))?;
    assert_eq!(
        complaints(&dir),
        ["there is no shaders/spv/MANIFEST; run scripts/compile-shaders"]
    );
    Ok(())
}

#[test]
fn a_name_that_makes_no_constant_is_named() -> Outcome {
    let dir = planted("name")?;
    put(&dir, "two-pass.comp", "void main() {}\n")?;
    assert_eq!(
        complaints(&dir),
        [
            "shaders/two-pass.comp: a shader's name is made of a-z, 0-9 and _, and starts with a \
             letter"
        ]
    );
    Ok(())
}

#[test]
fn a_manifest_reads_as_it_was_written() -> Outcome {
    let dir = planted("round_trip")?;
    let manifest = Manifest::read(&dir)?;
    assert_eq!(manifest.compiler, "a compiler 1.2");
    assert_eq!(manifest.shaders.len(), 3);
    assert_eq!(
        fs::read_to_string(dir.join("spv/MANIFEST"))?,
        manifest.to_string()
    );
    Ok(())
}

#[test]
fn the_library_gets_words_by_name_and_no_test_shaders() {
    let shader = |name: &str| Built {
        name: name.to_owned(),
        words: vec![MAGIC, 7],
    };
    assert_eq!(
        rust_source(&[shader("crowd.vert"), shader("test/probe.comp")]),
        "/// `shaders/crowd.vert`\npub(crate) static CROWD_VERT: &[u32] = &[119734787,7,];\n"
    );
}

/// The test vectors of the hash's authors, <http://www.isthe.com/chongo/tech/comp/fnv/>.
#[test]
fn the_hash_is_fnv_1a() {
    let hash = |text: &str| Hash::EMPTY.and(text.as_bytes()).to_string();
    assert_eq!(hash(""), "6c62272e07bb014262b821756295c58d");
    assert_eq!(hash("a"), "d228cb696f1a8caf78912b704e4a8964");
    assert_eq!(hash("foobar"), "343e1662793c64bf6f0d3597ba446f18");
}
