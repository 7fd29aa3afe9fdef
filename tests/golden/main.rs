//! Golden pictures: the examples' own code draws them, and they are compared with `tests/golden/`.
//!
//! # Metric
//!
//! The comparison imitates human perception: structure of the brightness (SSIM) and difference of
//! the colours. It is in `tests/reference/golden.rs`.
//!
//! The metric is computed for each tile of 32 × 32 pixels, and the worst tile counts. The mean over
//! the picture would hide one character out of sixty.
//!
//! # Failures
//!
//! A failure leaves `NAME.actual.png` and `NAME.difference.png` in `target/golden/`. After an
//! intended change, run `THRONG_UPDATE_GOLDEN=1 scripts/with-vulkan cargo test --test golden`, and
//! look at the changes that git shows.
//!
//! Every picture is drawn under the validation layer. Any message of it is a failure.

#![allow(
    clippy::duplicate_mod,
    reason = "examples share files, and each is a program of its own"
)]

use std::path::PathBuf;
use std::process::Command;
use throng_reference::words::Says;

use clap::Parser as _;
use throng::glam::Vec2;

#[allow(dead_code, reason = "the example's command line is not used here")]
#[path = "../../examples/animation/main.rs"]
mod animation;
#[allow(
    dead_code,
    reason = "the example's window and command line are not drawn here"
)]
#[path = "../../examples/crowd/main.rs"]
mod crowd;
#[allow(dead_code, reason = "the example's command line is not used here")]
#[path = "../../examples/environment.rs"]
mod environment;
#[path = "../../examples/minimal.rs"]
mod minimal;
#[allow(dead_code, reason = "the example's command line is not used here")]
#[path = "../../examples/own_pipeline.rs"]
mod own_pipeline;
#[allow(dead_code, reason = "the example's command line is not used here")]
#[path = "../../examples/own_shader.rs"]
mod own_shader;
#[allow(dead_code, reason = "the example's command line is not used here")]
#[path = "../../examples/shadows.rs"]
mod shadows;

mod arguments;
mod board;
mod characters;
mod levels;
mod methods;
mod pops;
mod stage;

use crowd::args::Args;
use crowd::camera::YAW_RAD;
use crowd::headless::{render, render_scene};
use crowd::layout::Motion;
use crowd::show;
use reference::golden::{LEAST, output, say, worst};
use reference::picture::Picture;
use throng_reference as reference;

/// The folder of the golden pictures.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden");

fn check(name: &str, actual: &Picture) {
    reference::golden::check(FOLDER, name, actual);
}

/// The arguments of a crowd whose picture is small enough to be committed.
fn args(more: &[&str]) -> Args {
    let all = [
        "crowd",
        "--headless",
        "--validate",
        "--no-anisotropy",
        "--size",
        "480x270",
        "--frames",
        "3",
    ];
    Args::parse_from(all.iter().chain(more))
}

/// Draws the last picture of a crowd, without a message of the validation layer.
fn draw(args: &Args) -> Picture {
    picture(args, render(args).expect("a picture"))
}

fn picture(args: &Args, rendered: crowd::headless::Rendered) -> Picture {
    rendered.messages.check().unwrap();
    Picture::new(args.size.0.width, args.size.0.height, &rendered.rgba)
}

#[test]
fn builtin() {
    check("builtin", &draw(&args(&["--instances", "60"])));
}

/// Both processors cull and animate alike: the pictures are the same, and the figures of every
/// view. Poses that the GPU computes are rounded in another way, which few edges show.
#[test]
fn either_side_culls_and_animates() {
    let rendered = [
        ("cpu", ["CPU", "CPU"]),
        ("gpu-cull", ["GPU", "CPU"]),
        ("gpu", ["GPU", "GPU"]),
    ]
    .map(|(stages, [cull, animate])| {
        let more = [
            "--instances",
            "40",
            "--characters",
            "3",
            "--distance",
            "0.3",
            "--still",
        ];
        let sides = ["--stages", stages];
        let args = args(&[&more[..], &sides].concat());
        let rendered = render(&args).expect("a picture");
        let crowd::headless::Rendered {
            device, scene, log, ..
        } = &rendered;
        let figures = log.to_json(device, scene, (480, 270));
        assert_eq!(figures["culled_by"], cull);
        assert_eq!(figures["animated_by"], animate);
        let posed = figures["posed_on_gpu"].as_u64();
        assert_eq!(posed > Some(0), animate == "GPU", "{posed:?}");
        (figures["views"].clone(), picture(&args, rendered))
    });
    let [(by_cpu, cpu), (by_gpu, gpu), (all_by_gpu, all_on_gpu)] = rendered;
    assert!(cpu == gpu, "the pictures differ");
    assert_eq!([&by_cpu, &by_cpu], [&by_gpu, &all_by_gpu]);
    let [a, b] = [&all_on_gpu, &cpu].map(|picture| picture.texels.as_flattened());
    let apart = reference::picture::different(a, b, 2);
    assert!(apart <= 20, "{apart} pixels differ");
    let views = by_cpu.as_array().expect("a list");
    let names: Vec<_> = views.iter().map(|view| view["name"].as_str()).collect();
    assert_eq!(names, [Some("camera"), Some("sun")]);
    for view in views {
        let count = |name: &str| view[name].as_u64().expect("a number");
        assert_eq!(count("shown") + count("outside") + count("too_small"), 40);
        let levels = view["levels"].as_array().expect("a list").iter();
        let levels = levels.map(|level| level.as_u64().expect("a number"));
        assert_eq!(levels.sum::<u64>(), count("shown"));
        assert!(count("triangles") > 0);
    }
    // The camera is among the people.
    assert!(views[0]["outside"].as_u64() > Some(0), "{}", views[0]);
}

/// Pictures and figures do not replace the model, or each other.
#[test]
fn files_that_are_read_are_not_overwritten() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("crowd");
    std::fs::create_dir_all(&folder).expect("a folder");
    let text = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (model, other) = (text("model.throng"), text("other.png"));
    let mannequin = throng::builtin::mannequin().expect("a character");
    mannequin.save_file(&model).expect("a file");
    let _ = std::fs::remove_file(&other);
    std::fs::hard_link(&model, &other).expect("a link");
    let free = text("free.png");
    for (out, stats, said) in [
        (&other, &text("a.json"), "it belongs to"),
        (&free, &model, "it belongs to"),
        (&free, &free, "is given for two outputs"),
        (&free, &text("none/a.json"), "cannot be written"),
    ] {
        let args = args(&["--model", &model, "--out", out, "--stats", stats]);
        crowd::headless::run(&args)
            .expect_err("a refusal")
            .says(format!("…{said}…"));
    }
    let kept = throng::character::Character::load_file(&model, &Default::default());
    assert_eq!(kept.expect("a character"), mannequin.character);
}

/// The comparison notices if one of sixty people has stepped aside.
///
/// Without this test, the others would prove nothing.
#[test]
fn one_who_moved_is_found() {
    let args = args(&["--instances", "60"]);
    let mut scene = show::scene(&args).expect("a scene");
    let step = Vec2::new(0.25, 0.0);
    let persons = scene.layout_mut().persons.iter_mut();
    let standing = persons.filter_map(|person| match &mut person.motion {
        Motion::Stands { at, .. } => Some(at),
        Motion::Travels { .. } => None,
    });
    let mut standing: Vec<&mut Vec2> = standing.collect();
    let reach_m = standing.iter().map(|at| at.length()).fold(0.0, f32::max);
    // Not someone at the edge, because the camera would follow, but someone who is fully visible.
    standing.retain(|at| at.length() < 0.8 * reach_m);
    let nearness = |at: &Vec2| at.dot(Vec2::new(YAW_RAD.sin(), YAW_RAD.cos()));
    let nearest = standing
        .into_iter()
        .max_by(|a, b| nearness(a).total_cmp(&nearness(b)));
    *nearest.expect("someone who stands") += step;
    let moved = picture(&args, render_scene(&args, scene).expect("a picture"));
    let score = worst(&reference::golden::golden(FOLDER, "builtin"), &moved).score;
    say(&format!("one moved by {} m: {score:.4}", step.length()));
    assert!(score < LEAST, "{score} would have passed");
}

#[test]
#[cfg_attr(
    not(models),
    ignore = "needs the models of tests/build.rs in THRONG_ASSETS"
)]
fn models() {
    let folder = PathBuf::from(std::env::var_os("THRONG_ASSETS").expect("THRONG_ASSETS"));
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    for (name, files, count) in [
        ("fox", &["Fox.glb"][..], "60"),
        ("cesium-man", &["CesiumMan.glb"], "60"),
        ("brain-stem", &["BrainStem.glb"], "8"),
        ("knight", &["Knight.glb"], "60"),
        (
            "mixed",
            &["Fox.glb", "Knight.glb", "RiggedFigure.glb"],
            "60",
        ),
    ] {
        let files: Vec<String> = files.iter().map(|file| path(file)).collect();
        let mut all = vec!["--instances", count];
        all.extend(files.iter().flat_map(|file| ["--model", file]));
        check(name, &draw(&args(&all)));
    }
}

#[test]
fn minimal() {
    example("minimal", minimal::main);
}

/// The character in the middle is tinted, so a ray through its pixel must hit it.
#[test]
fn shadows() {
    example("shadows", || shadows::picture(Some([320, 200])));
}

#[test]
fn animation() {
    example("animation", animation::picture);
}

#[test]
fn environment() {
    example("environment", environment::picture);
}

#[test]
fn own_shader() {
    example("own_shader", own_shader::picture);
}

#[test]
fn own_pipeline() {
    example("own_pipeline", own_pipeline::picture);
}

/// Runs an example in its own process. `name` is also the name of the test.
///
/// The example does not request the validation layer, so the environment enables it.
fn example(name: &str, draw: fn() -> Result<(), Box<dyn std::error::Error>>) {
    const CHILD: &str = "THRONG_GOLDEN_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return draw().expect("a picture");
    }
    let folder = output().join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let report = folder.join("validation.txt");
    let _ = std::fs::remove_file(&report);
    // Layers of 2023 know the first name, later ones the second.
    let settings = format!(
        "khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION,\
         VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,\
         VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT\n\
         khronos_validation.report_flags = error,warn,perf,info\n\
         khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n\
         khronos_validation.log_filename = {}\n",
        report.display()
    );
    std::fs::write(folder.join("vk_layer_settings.txt"), settings).expect("settings");
    let ran = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation")
        .env("VK_LAYER_SETTINGS_PATH", &folder)
        .env_remove("VK_LAYER_ENABLES")
        .current_dir(&folder)
        .output()
        .expect("a process");
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{errors}");
    let said = std::fs::read_to_string(&report).expect("the layer's report");
    assert!(
        said.contains("SYNCHRONIZATION_VALIDATION"),
        "the layer did not run: {said}"
    );
    let bad = [
        "Validation Error",
        "Validation Warning",
        "Validation Performance",
    ];
    assert!(!bad.iter().any(|bad| said.contains(bad)), "{said}");
    let drawn = Picture::read(&folder.join(format!("{name}.png")));
    check(name, &drawn);
}
