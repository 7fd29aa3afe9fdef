//! Tests of what all subcommands have in common, and of the small ones.

use crate::{command, fails, folder, ok, run, text};
use std::process::Stdio;

const SUBCOMMANDS: [&str; 9] = [
    "inspect",
    "check",
    "bake",
    "pose",
    "retarget",
    "export",
    "bench",
    "completions",
    "man",
];

#[test]
fn every_subcommand_has_help_with_examples() {
    let help = ok(&["--help"]);
    for subcommand in SUBCOMMANDS {
        assert!(
            help.contains(&format!("\n  {subcommand} ")),
            "{subcommand}: {help}"
        );
        let help = ok(&[subcommand, "--help"]);
        assert!(
            help.contains(&format!("\n  throng {subcommand} ")),
            "{help}"
        );
        assert!(
            help.lines().all(|line| line.chars().count() <= 100),
            "{help}"
        );
        let exits = help.contains("Exit status:");
        assert_eq!(
            exits,
            !["completions", "man"].contains(&subcommand),
            "{subcommand}"
        );
    }
    let version = concat!("throng ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(ok(&["-V"]), version);
    let long = ok(&["--version"]);
    let formats = long.strip_prefix(version).unwrap();
    let formats = formats.strip_prefix("formats: ").unwrap().trim_end();
    let has_fbx = formats.split(", ").any(|format| format == "FBX");
    assert_eq!(has_fbx, cfg!(feature = "fbx"), "{long}");
    assert_eq!(
        ok(&["export", "--version"]),
        long.replace("throng ", "throng-export ")
    );
    assert!(fails(2, &[]).contains("Usage: throng"));
    fails(2, &["inspct", "x.glb"]);
    fails(2, &["inspect"]);
    fails(2, &["inspect", "--jsn", "x.glb"]);
}

/// A reader that stops early is no error.
#[test]
fn a_closed_output_is_no_panic() {
    for args in [
        &["inspect", "builtin"][..],
        &["inspect", "--json", "builtin"],
        &["check", "builtin"],
        &["pose", "builtin", "--obj", "-"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
    ] {
        let mut child = command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), &*err), (Some(0), ""), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_output_is_an_error() {
    for args in [
        &["inspect", "builtin"][..],
        &["check", "builtin"],
        &["man"],
        &["help"],
        &["inspect", "--help"],
        &["--version"],
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = command(args).stdout(full).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        assert!(err.contains("standard output: No space left"), "{err}");
    }
}

#[test]
fn completions_and_pages_name_every_subcommand() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ok(&["completions", shell]);
        assert!(
            SUBCOMMANDS.iter().all(|one| script.contains(one)),
            "{shell}"
        );
    }
    assert!(ok(&["man"]).contains(".SH SUBCOMMANDS"));
    let folder = folder("man");
    ok(&["man", &text(&folder)]);
    for subcommand in SUBCOMMANDS {
        let page = folder.join(format!("throng-{subcommand}.1"));
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains(&format!("throng\\-{subcommand}")), "{page}");
    }
    fails(3, &["man", &text(&folder.join("none"))]);
}

#[test]
fn bench_measures_without_vulkan() {
    let args = [
        "bench",
        "builtin",
        "--instances",
        "20",
        "--frames",
        "2",
        "--cpu-only",
    ];
    let said = command(&args)
        // Nothing looks for a driver.
        .env("VK_DRIVER_FILES", "/nowhere")
        .output()
        .unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    for words in [
        "CPU: ",
        "the saved character",
        "on one thread",
        "on all threads",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("Device"), "{said}");
    let found = crate::document(&ok(&[&args[..], &["--json"]].concat()));
    assert_eq!(
        (&found["format"], &found["instances"]),
        (&1.into(), &20.into())
    );
    assert!(
        found["threads"].as_u64() > Some(0) && found["device"].is_null(),
        "{found}"
    );
    let tables = found["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 2);
    assert!(
        tables[1]["rows"][0]["us_per_instance"].as_f64() > Some(0.0),
        "{found}"
    );
    assert!(tables[0]["rows"][0]["us_per_instance"].is_null());
    fails(2, &["bench", "builtin", "--instances", "0"]);
    fails(2, &["bench", "builtin", "--size", "0x7"]);
}

/// Needs a device, like the GPU tests.
#[test]
fn bench_names_the_device_and_the_stages() {
    let args = [
        "bench",
        "builtin",
        "--instances",
        "20",
        "--frames",
        "2",
        "--size",
        "64x64",
    ];
    let said = ok(&args);
    for words in [
        "\nDevice: ",
        "20 instances",
        "uploaded",
        "record_prepare",
        "record_draw",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let ran = command(&args)
        .env("THRONG_DEVICE", "no such device")
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(4), "{ran:?}");
}

/// Whatever the files contain, there are words and no panic.
#[test]
fn foreign_files_are_no_panic() {
    let folder = folder("foreign");
    let contents: [&[u8]; 7] = [
        b"",
        b"{}",
        b"<",
        b"glTF\x02\0\0\0",
        b"throng\r\n",
        b"Kaydara FBX Binary  \0",
        &[0xFF; 64],
    ];
    for (index, bytes) in contents.iter().enumerate() {
        let file = crate::write(&folder, &format!("{index}.glb"), bytes);
        let out = text(&folder.join("out"));
        for args in [
            &["inspect", &file][..],
            &["check", &file],
            &["bake", &file, &out],
            &["pose", &file, "--obj", &out],
            &["retarget", &file, "builtin", &out],
            &["retarget", "builtin", &file, &out],
            &["bench", &file, "--cpu-only"],
        ] {
            let ran = run(args);
            assert_eq!(ran.status, 1, "{args:?}: {}{}", ran.out, ran.err);
            let words = format!("{}{}", ran.out, ran.err);
            assert!(
                words.contains(&format!("{index}.glb: ")),
                "{args:?}: {words}"
            );
        }
        assert!(!std::path::Path::new(&out).exists());
    }
}

/// Opening a pipe would wait for its other end, and a device may have no end.
#[cfg(unix)]
#[test]
fn inputs_that_are_not_plain_files_are_refused_at_once() {
    let folder = folder("inputs that are not plain files");
    let pipe = text(&folder.join("pipe.glb"));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let socket = folder.join("socket.glb");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let large = folder.join("large.glb");
    let file = std::fs::File::create(&large).unwrap();
    file.set_len(1 << 40).unwrap();
    let out = text(&folder.join("out.throng"));
    let obj = text(&folder.join("out.obj"));
    let plain = "is not a plain file";
    for (input, why) in [
        (&*pipe, plain),
        (&text(&socket), plain),
        ("/dev/zero", plain),
        (
            &text(&large),
            "bytes of one resource: 1099511627776 exceeds the limit of",
        ),
        (&text(&folder), "is a directory"),
    ] {
        let mut all = vec![
            vec!["inspect", input],
            vec!["bake", input, &out],
            vec!["pose", input, "--obj", &obj],
        ];
        // It takes folders.
        if input != text(&folder) {
            all.push(vec!["check", input]);
        }
        if input == pipe {
            // These make the built-in character first, which takes seconds without optimisation.
            all.push(vec!["bake", "builtin", &out, "--clips", input]);
            all.push(vec!["retarget", input, "builtin", &out]);
            all.push(vec!["retarget", input, "builtin", &out, "--match", "names"]);
        }
        for args in &all {
            // It ends by itself at once. Otherwise the status is 124.
            let mut ended = std::process::Command::new("timeout");
            let ended = ended.arg("60").arg(env!("CARGO_BIN_EXE_throng")).args(args);
            let ended = ended.output().unwrap();
            // `check` lists its files on the standard output.
            let words = [ended.stdout, ended.stderr].concat();
            let words = String::from_utf8_lossy(&words);
            assert!(words.contains(why), "{args:?}: {:?} {words}", ended.status);
        }
    }
}
