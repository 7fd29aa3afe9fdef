//! Saved characters as files: errors, links, permissions and pipes.

use crate::reference::random;
use crate::reference::words::Says;
use crate::save::small;
use std::path::{Path, PathBuf};
use throng::Error;
use throng::character::{Character, LoadOptions};
use throng::error::SavedFault;
use throng::import::{ImportOptions, RawCharacter};
use throng::mesh::{Image, Material, TextureRef};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn files_are_written_whole_and_errors_name_them() {
    let folder = folder("saved characters");
    let path = folder.join("one.throng");
    let [first, second] = [&small()[0], &small()[1]];
    first.save_file(&path).unwrap();
    assert!(Character::load_file(&path, &Default::default()).unwrap() == *first);
    second.save_file(&path).unwrap();
    assert!(Character::load_file(&path, &Default::default()).unwrap() == *second);
    assert_eq!(std::fs::read(&path).unwrap(), second.to_bytes());
    let imported = throng_import::file(&path, &ImportOptions::default()).unwrap();
    assert!(imported.character == *second && imported.repairs.is_empty());
    // Nothing else is left in the folder.
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);

    let text = |error: Error| error.to_string();
    let path = |name: &str| folder.join(name);
    let read = text(Character::load_file(path("none.throng"), &Default::default()).unwrap_err());
    read.says("…none.throng cannot be read: it does not exist…");
    let read = text(Character::load_file(&folder, &Default::default()).unwrap_err());
    read.says("…cannot be read: is a directory");
    let written = text(first.save_file(&folder).unwrap_err());
    written.says("…saved characters cannot be written: is a directory");
    let written = text(first.save_file(path("none/one.throng")).unwrap_err());
    written.says("…one.throng cannot be written: its folder does not exist…");
    for empty in [
        first.save_file("").unwrap_err(),
        Character::load_file("", &Default::default()).unwrap_err(),
        throng_import::file("", &ImportOptions::default()).unwrap_err(),
    ] {
        let empty = text(empty);
        empty.says("an empty path cannot be …");
    }
    std::fs::write(path("cut.throng"), &first.to_bytes()[..40]).unwrap();
    let cut = path("cut.throng");
    let both = [
        text(Character::load_file(&cut, &Default::default()).unwrap_err()),
        text(throng_import::file(&cut, &ImportOptions::default()).unwrap_err()),
    ];
    for error in both {
        error.says("cut.throng: saved character: has 40 bytes, needs …");
    }
    // The name decides if the contents fit no format.
    std::fs::write(path("empty.throng"), b"").unwrap();
    let empty = throng_import::file(path("empty.throng"), &ImportOptions::default()).unwrap_err();
    let words = "empty.throng: saved character: the bytes do not start with the signature";
    assert_eq!(text(empty), words);
}

#[test]
fn files_are_loaded_with_options() {
    let folder = folder("saved characters, options");
    let path = folder.join("painted.throng");
    let painted = Material {
        base_color: [0.5; 4],
        base_color_texture: Some(TextureRef::new(0)),
        ..Material::default()
    };
    let raw = RawCharacter {
        materials: vec![painted.clone()],
        images: vec![Image::new("red", 1, 1, vec![255, 0, 0, 255])],
        ..random::morphing(1)
    };
    let whole = raw.build(&ImportOptions::default()).unwrap().character;
    assert_eq!(
        (
            whole.images().len(),
            whole.materials()[0].textures()[0].is_some()
        ),
        (1, true)
    );
    whole.save_file(&path).unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len();
    let with = |images, max_bytes| {
        let options = LoadOptions { images, max_bytes };
        Character::load_file(&path, &options)
    };
    assert!(with(true, bytes).unwrap() == whole);
    let without = with(false, bytes).unwrap();
    assert!(without.images().is_empty());
    assert_eq!(
        without.materials()[0],
        Material {
            base_color_texture: None,
            ..painted
        }
    );
    assert!(without.primitives() == whole.primitives() && without.clips() == whole.clips());
    let imported = throng_import::file(
        &path,
        &ImportOptions {
            images: false,
            ..Default::default()
        },
    );
    assert!(imported.unwrap().character == without);
    let why = with(true, bytes - 1).unwrap_err().to_string();
    let cap = bytes - 1;
    why.says(format!(
        "painted.throng: saved character: has {bytes} bytes, but {cap} are allowed \
         (LoadOptions::max_bytes)"
    ));
}

#[cfg(target_os = "linux")]
#[test]
fn names_of_any_legal_length_are_written() {
    let folder = folder("saved characters, long names");
    for length in [247, 255] {
        let path = folder.join(format!("{}.throng", "a".repeat(length - 7)));
        for one in &small()[..2] {
            one.save_file(&path).unwrap();
            assert!(Character::load_file(&path, &Default::default()).unwrap() == *one);
        }
    }
    let long = folder.join("a".repeat(256));
    assert!(matches!(
        small()[0].save_file(long),
        Err(Error::Write { .. })
    ));
    // Nothing else is left in the folder.
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn devices_are_not_loaded() {
    for error in [
        Character::load_file("/dev/null", &Default::default()).unwrap_err(),
        throng_import::file("/dev/null", &ImportOptions::default()).unwrap_err(),
    ] {
        error.says("null: file: is not a plain file");
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = folder("saved characters, link");
    let (file, link) = (folder.join("file.throng"), folder.join("link.throng"));
    small()[0].save_file(&file).unwrap();
    std::os::unix::fs::symlink("file.throng", &link).unwrap();
    small()[1].save_file(&link).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(Character::load_file(&file, &Default::default()).unwrap() == small()[1]);
}

/// A file that is not there yet is made where the link leads.
#[cfg(unix)]
#[test]
fn a_link_to_nothing_stays_a_link() {
    let folder = folder("saved characters, link to nothing");
    let link = folder.join("link.throng");
    std::fs::create_dir(folder.join("inside")).unwrap();
    std::os::unix::fs::symlink("inside/file.throng", &link).unwrap();
    small()[0].save_file(&link).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    let file = folder.join("inside/file.throng");
    assert!(Character::load_file(&file, &Default::default()).unwrap() == small()[0]);
    // A link to itself leads nowhere.
    let round = folder.join("round.throng");
    std::os::unix::fs::symlink("round.throng", &round).unwrap();
    assert!(matches!(
        small()[0].save_file(&round),
        Err(Error::Write { .. })
    ));
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder("saved characters, permissions").join("one.throng");
    small()[0].save_file(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    small()[1].save_file(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_pipe_stays_a_pipe() {
    use std::os::unix::fs::FileTypeExt as _;
    let path = folder("saved characters, pipe").join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let reader = std::thread::spawn({
        let path = path.clone();
        move || std::fs::read(path).unwrap()
    });
    small()[0].save_file(&path).unwrap();
    let file_type = std::fs::symlink_metadata(&path).unwrap().file_type();
    assert!(file_type.is_fifo());
    assert!(reader.join().unwrap() == small()[0].to_bytes());
}

#[test]
fn large_files_of_another_kind_are_refused_by_their_start() {
    let path = folder("saved characters, large").join("one.throng");
    // A terabyte, of which nothing is stored.
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    let error = Character::load_file(&path, &Default::default()).unwrap_err();
    let Error::Saved { why, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(*why, SavedFault::Magic);
}

/// A read-only file stays as it is, and no new file is left beside it.
#[cfg(windows)]
#[test]
fn a_read_only_file_is_not_replaced() {
    let folder = folder("saved characters, read-only");
    let path = folder.join("one.throng");
    small()[0].save_file(&path).unwrap();
    let set = |readonly| {
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(readonly);
        std::fs::set_permissions(&path, permissions).unwrap();
    };
    set(true);
    let error = small()[1].save_file(&path).unwrap_err();
    let is_denied = matches!(&error, Error::Write { kind, .. }
        if *kind == std::io::ErrorKind::PermissionDenied);
    assert!(is_denied, "{error}");
    assert!(Character::load_file(&path, &Default::default()).unwrap() == small()[0]);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    set(false);
}

/// Since 2016, Windows replaces a file that another program has open, which keeps the old one.
/// If it cannot, as in wine 8, nothing changes.
#[cfg(windows)]
#[test]
fn a_file_that_is_open_is_replaced_or_stays() {
    use std::io::Read as _;
    let folder = folder("saved characters, open");
    let path = folder.join("one.throng");
    small()[0].save_file(&path).unwrap();
    let mut open = std::fs::File::open(&path).unwrap();
    let now = match small()[1].save_file(&path) {
        Ok(()) => &small()[1],
        Err(Error::Write { kind, .. }) => {
            assert_eq!(kind, std::io::ErrorKind::PermissionDenied);
            &small()[0]
        }
        Err(error) => panic!("{error}"),
    };
    assert!(Character::load_file(&path, &Default::default()).unwrap() == *now);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    let mut bytes = Vec::new();
    open.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, small()[0].to_bytes());
}

/// Windows reserves these names in every folder. A file of that name could not be opened again.
#[cfg(windows)]
#[test]
fn reserved_names_are_devices() {
    let folder = folder("saved characters, devices");
    small()[0].save_file("NUL").unwrap();
    small()[0].save_file(folder.join("nul")).unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    for name in ["NUL", "nul.throng"] {
        Character::load_file(name, &Default::default()).unwrap_err();
        throng_import::file(name, &ImportOptions::default()).unwrap_err();
    }
}

/// Paths with slashes, with backslashes and through `..` lead to the same file.
#[cfg(windows)]
#[test]
fn one_file_has_many_paths() {
    use throng::files::overwritten;
    let folder = folder("saved characters, paths");
    let path = folder.join("one.throng");
    small()[0].save_file(&path).unwrap();
    let text = path.to_str().unwrap();
    let inner = folder
        .join("..")
        .join("saved characters, paths")
        .join("ONE.Throng");
    let others = [
        text.replace('/', "\\"),
        text.replace('\\', "/"),
        inner.to_str().unwrap().into(),
    ];
    for other in others {
        let other = Path::new(&other);
        assert!(Character::load_file(other, &Default::default()).unwrap() == small()[0]);
        assert!(
            overwritten(other, &[&path]).is_some(),
            "{}",
            other.display()
        );
    }
    // Also before there is a file.
    let none = [folder.join("none.throng")];
    assert!(overwritten(&folder.join("NONE.throng"), &none).is_some());
    assert!(overwritten(&folder.join("other.throng"), &none).is_none());
}
