//! Tests of the example `pose`: its listing, its output files, and its error messages.

#[allow(
    dead_code,
    unreachable_pub,
    reason = "the example's own main is not called"
)]
#[path = "../../examples/pose/main.rs"]
pub(crate) mod pose;

use super::picture::Picture;
use clap::Parser;
use pose::{Args, Failure};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use throng::animator::{Animator, AnimatorDesc, Play};
use throng::character::Character;
use throng::glam::Vec3;
use throng::ids::ClipId;
use throng::import::{ImportOptions, gltf_file};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skin::PosedVertices;

/// The result or the text of the error, and the notes.
fn run(args: &[&str]) -> (Result<String, String>, String) {
    let args = Args::try_parse_from(["pose"].iter().chain(args)).unwrap();
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let result = pose::run(&args, &mut out, &mut notes);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        result.map(|()| text(out)).map_err(|e| e.to_string()),
        text(notes),
    )
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn lists_the_built_in_character_without_arguments() {
    let (listing, notes) = run(&[]);
    let listing = listing.unwrap();
    for line in [
        "\nSkins (1)\n",
        "\nJoints (57)\n",
        "\nClips (4)\n",
        "\nPrimitives (1)\n",
        "\nMaterials (1)\n",
        "\nRepairs: none\n",
    ] {
        assert!(listing.contains(line), "{line:?} is not in:\n{listing}");
    }
    assert!(listing.lines().all(|line| line == line.trim_end()));
    assert_eq!(notes, "");
    assert_eq!(run(&["builtin", "--list"]).0.unwrap(), listing);
}

/// Names have no limit of their own. Rust's formatting stops at widths of 65,535.
#[test]
fn lists_names_of_any_length() {
    let folder = folder("pose example, long names");
    let file = folder.join("long.gltf");
    let (long, rows) = ("n".repeat(70_000), 200);
    let node = |row| match row {
        3 => serde_json::json!({ "name": long }),
        _ => serde_json::json!({ "name": row.to_string() }),
    };
    let json = serde_json::json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": (0..rows).collect::<Vec<_>>() }],
        "nodes": (0..rows).map(node).collect::<Vec<_>>(),
    });
    std::fs::write(&file, json.to_string()).unwrap();
    let listing = run(&[file.to_str().unwrap()]).0.unwrap();
    assert!(listing.contains(&format!("\"{long}\"")));
    // The long name pads no other row.
    assert!(listing.len() < 2 * long.len(), "{}", listing.len());
}

/// Points of a triangle, and one more: four vertices of which the last makes no triangle.
#[test]
fn repairs_are_listed_and_noted() {
    let folder = folder("pose example, repairs");
    let file = folder.join("odd.gltf");
    let uri = format!("data:;base64,{}", "A".repeat(64));
    let json = serde_json::json!({
        "asset": { "version": "2.0" },
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4 }],
        "bufferViews": [{ "buffer": 0, "byteLength": 48 }],
        "buffers": [{ "uri": uri, "byteLength": 48 }],
    });
    std::fs::write(&file, json.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let repair = "odd.gltf: mesh 0, primitives[0].indices: trailing indices that make no full \
                  triangle dropped (1)\n";
    let (obj, notes) = run(&[file, "--obj", "-"]);
    assert!(obj.unwrap().contains("\nf 1"));
    assert_eq!(notes, format!("note: {repair}"));
    let (listing, notes) = run(&[file]);
    assert!(listing.unwrap().contains(repair));
    assert_eq!(notes, "", "they are in the list");
}

#[test]
fn clips_go_by_name_and_number() {
    for clip in ["Walk", "1"] {
        let listing = run(&["--clip", clip, "--time", "0.25"]).0.unwrap();
        assert!(
            listing.contains("Pose: clip 1, \"Walk\", at 0.25 s;"),
            "{listing}"
        );
    }
    let (result, _) = run(&["--clip", "Wlak"]);
    let words = result.unwrap_err();
    assert!(
        words.contains("\"Wlak\"") && words.contains("Idle, Walk, Run, Wave"),
        "{words}"
    );
    let words = run(&["--clip", "4"]).0.unwrap_err();
    assert!(words.contains("0 to 3"), "{words}");
}

#[test]
fn times_are_held_to_the_clip_with_a_note() {
    let (result, notes) = run(&["--clip", "Walk", "--time", "-1.5"]);
    assert!(result.unwrap().contains("at 0 s;"));
    assert_eq!(
        notes,
        "note: -1.5 s lies before the start of \"Walk\": taking 0 s\n"
    );
    let (result, notes) = run(&["--time", "1000"]);
    assert!(result.is_ok());
    assert!(
        notes.contains("clip 0, \"Idle\"") && notes.contains("after the end"),
        "{notes}"
    );
    for time in ["nan", "inf", "1e999"] {
        assert!(run(&["--time", time]).0.unwrap_err().contains("finite"));
    }
}

#[test]
fn says_what_it_cannot_read_or_write() {
    let words = run(&["no such file.glb"]).0.unwrap_err();
    assert!(words.contains("no such file.glb"), "{words}");
    let folder = folder("pose example, errors");
    let missing = folder.join("none").join("out.obj");
    let words = run(&["--obj", missing.to_str().unwrap()]).0.unwrap_err();
    assert!(words.contains("there is no folder"), "{words}");
    let words = run(&["--obj", folder.to_str().unwrap()]).0.unwrap_err();
    assert!(words.contains("it is a folder"), "{words}");
    let file = crate::reference::made::write(&folder);
    let file = file.to_str().unwrap();
    let before = std::fs::read(file).unwrap();
    let words = run(&[file, "--obj", file]).0.unwrap_err();
    assert!(words.contains("it is the file that is read"), "{words}");
    assert_eq!(std::fs::read(file).unwrap(), before);
}

/// An output that nobody reads any more.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_output_is_no_panic() {
    for args in [
        &["pose"][..],
        &["pose", "--obj", "-"],
        &["pose", "--time", "99"],
    ] {
        let args = Args::try_parse_from(args).unwrap();
        let failure = pose::run(&args, &mut Closed, &mut Closed).unwrap_err();
        let closed =
            matches!(&failure, Failure::Output(e) if e.kind() == io::ErrorKind::BrokenPipe);
        assert!(closed, "{failure:?}");
    }
}

#[derive(Default)]
struct Obj {
    objects: Vec<String>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// For each object, its faces: three pairs of (position, normal) indices, counted from 0.
    faces: Vec<Vec<[(usize, usize); 3]>>,
}

fn read(text: &str) -> Obj {
    let mut obj = Obj::default();
    for line in text.lines() {
        let (keyword, rest) = line.split_once(' ').unwrap();
        let vector = || {
            let numbers: Vec<f32> = rest.split(' ').map(|n| n.parse().unwrap()).collect();
            Vec3::from_slice(&numbers)
        };
        let corner = |corner: &str| {
            let (v, vn) = corner.split_once("//").unwrap();
            let index = |text: &str| text.parse::<usize>().unwrap() - 1;
            (index(v), index(vn))
        };
        match keyword {
            "o" => {
                obj.objects.push(rest.into());
                obj.faces.push(Vec::new());
            }
            "v" => obj.positions.push(vector()),
            "vn" => obj.normals.push(vector()),
            "f" => {
                let corners: Vec<_> = rest.split(' ').map(corner).collect();
                obj.faces
                    .last_mut()
                    .unwrap()
                    .push(corners.try_into().unwrap());
            }
            _ => assert_eq!(keyword, "#"),
        }
    }
    obj
}

/// Checks that the text contains exactly the numbers that the crate computes.
fn check(obj: &Obj, character: &Character, moment: Option<(usize, f64)>) {
    let mut palette = vec![Mat3x4::IDENTITY; character.palette().len()];
    let play = moment.map_or(Play::REST, |(clip, time_s)| Play {
        offset_s: time_s,
        ..Play::new(ClipId(clip as u16)).once()
    });
    let mut animator = Animator::new(character, &AnimatorDesc::default()).unwrap();
    let actor = animator.add(play).unwrap();
    animator
        .palettes(&[actor], WriteOnly::over(&mut palette))
        .unwrap();
    assert_eq!(obj.objects.len(), character.primitives().len());
    let mut weights = vec![0.0; character.morph_weights().len()];
    animator.morph_weights(actor, &mut weights).unwrap();
    let mut posed = PosedVertices::default();
    let mut start = 0;
    for (part, faces) in character.primitives().iter().zip(&obj.faces) {
        character
            .skin_primitive(part, (&*palette).into(), &weights, &mut posed)
            .unwrap();
        assert_eq!(
            obj.positions[start..start + part.vertex_count()],
            posed.positions
        );
        let (triangles, _) = part.indices.as_chunks::<3>();
        assert_eq!(faces.len(), triangles.len());
        let turned = character
            .flipped_triangles(part, (&*palette).into())
            .unwrap();
        for ((face, [a, b, c]), turned) in faces.iter().zip(triangles).zip(turned) {
            let triangle = if turned { &[*a, *c, *b] } else { &[*a, *b, *c] };
            let corners = face.map(|(v, _)| obj.positions[v]);
            for ((v, vn), index) in face.iter().zip(triangle) {
                assert_eq!(*v, start + *index as usize);
                let normal = obj.normals[*vn];
                assert!(normal.is_normalized());
                if let Some(expected) = posed.normals.get(*index as usize) {
                    assert_eq!(normal, *expected);
                } else {
                    let across = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
                    let area = across.length();
                    assert!(area < 1e-6 || normal.dot(across) > 0.9999 * area);
                }
            }
        }
        start += part.vertex_count();
    }
    assert_eq!(obj.positions.len(), start);
}

#[test]
fn the_mesh_reads_back_as_it_was_computed() {
    let folder = folder("pose example");
    let file = crate::reference::made::write(&folder);
    let character = gltf_file(&file, &ImportOptions::default()).unwrap();
    let out = folder.join("out.obj");
    let (file, path) = (file.to_str().unwrap(), out.to_str().unwrap());
    let (said, _) = run(&[file, "--clip", "all", "--time", "1.25", "--obj", path]);
    assert!(said.unwrap().starts_with("wrote "));
    let text = std::fs::read_to_string(&out).unwrap();
    check(&read(&text), &character, Some((0, 1.25)));

    let (text, notes) = run(&[file, "--obj", "-", "--list"]);
    check(&read(&text.unwrap()), &character, None);
    assert!(
        notes.contains("\nJoints ("),
        "the list goes elsewhere: {notes}"
    );

    let mannequin = throng::builtin::mannequin_with(&ImportOptions::default()).unwrap();
    let (text, _) = run(&["--clip", "Run", "--time", "0.3", "--obj", "-"]);
    check(&read(&text.unwrap()), &mannequin, Some((2, 0.3)));
}

/// The numbers in the `v` and `vn` lines of an OBJ.
fn numbers(obj: &str) -> Vec<f32> {
    let lines = obj.lines().filter(|line| line.starts_with('v'));
    lines
        .flat_map(|line| line.split(' ').skip(1))
        .map(|number| number.parse().unwrap())
        .collect()
}

/// Needs a device, like the GPU tests.
#[test]
fn the_mesh_is_the_same_from_the_gpu() {
    for method in ["linear", "dualquat", "quatoffset"] {
        let [cpu, gpu] = ["cpu", "gpu"].map(|on| {
            let args = [
                "--clip", "Wave", "--time", "0.7", "--obj", "-", "--method", method, "--on", on,
            ];
            numbers(&run(&args).0.unwrap())
        });
        assert_eq!(cpu.len(), gpu.len());
        assert!(cpu.len() > 20_000, "{}", cpu.len());
        let worst = cpu.iter().zip(&gpu).map(|(a, b)| (a - b).abs());
        let worst = worst.fold(0.0, f32::max);
        // Metres, and components of unit vectors. The GPU stores the latter in 16 bits per
        // coordinate (8e-5, see src/gpu/encode.rs).
        assert!(worst < 1.6e-4, "{method}: {worst}");
    }
}

#[test]
fn the_picture_is_the_same_wherever_it_is_skinned() {
    let folder = folder("pose_pictures");
    let [vertex, compute, cpu] = ["vertex", "compute", "cpu"].map(|skin| {
        let path = folder.join(format!("{skin}.png"));
        let path = path.to_str().unwrap();
        let args = [
            "--clip",
            "Run",
            "--time",
            "0.3",
            "--picture",
            path,
            "--skin",
            skin,
        ];
        let told = run(&args).0.unwrap();
        assert!(
            told.starts_with("wrote ") && told.contains("\"Run\", at 0.3 s"),
            "{told}"
        );
        Picture::read(Path::new(path))
    });
    let different = |a: &Picture, b: &Picture| {
        let pairs = a.texels.iter().zip(&b.texels);
        let far = |(a, b): &(&[u8; 4], &[u8; 4])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 2);
        pairs.filter(far).count()
    };
    let background = vertex.at(0, 0);
    let drawn = vertex.texels.iter().filter(|texel| **texel != background);
    let drawn = drawn.count();
    assert!(drawn > 20_000, "{drawn}");
    // The last bits of a position decide a few samples along edges.
    assert!(different(&vertex, &compute) < drawn / 1000);
    assert!(different(&vertex, &cpu) < drawn / 200);
}

#[test]
fn what_a_method_cannot_hold_is_refused_by_joint() {
    let files = crate::reference::assets::files();
    let Some(file) = files
        .iter()
        .find(|file| file.ends_with("InterpolationTest.gltf"))
    else {
        return;
    };
    let told = run(&[
        file.to_str().unwrap(),
        "--method",
        "quatoffset",
        "--obj",
        "-",
    ])
    .0;
    let told = told.unwrap_err();
    assert!(
        told.contains("joint") && told.contains("\"Plane\""),
        "{told}"
    );
}

/// Compares positions of the GPU with those of the CPU, for every model and supported method.
///
/// `tests/palette/method_reference.rs` compares the CPU with `f64`.
#[test]
fn every_model_is_the_same_from_the_gpu() {
    let positions = |obj: &str| -> Vec<f32> {
        let lines = obj.lines().filter_map(|line| line.strip_prefix("v "));
        lines
            .flat_map(|line| line.split(' ').map(|number| number.parse().unwrap()))
            .collect()
    };
    for file in crate::reference::assets::files() {
        let path = file.to_str().unwrap();
        let clip: &[&str] = match gltf_file(path, &ImportOptions::curves_only())
            .unwrap()
            .curves()
        {
            [] => &[],
            _ => &["--clip", "0", "--time", "0.4"],
        };
        for method in ["linear", "dualquat", "quatoffset"] {
            let posed = |on| {
                let args = [path, "--obj", "-", "--method", method, "--on", on];
                run(&[&args, clip].concat()).0
            };
            let (cpu, gpu) = match (posed("cpu"), posed("gpu")) {
                (Ok(cpu), Ok(gpu)) => (positions(&cpu), positions(&gpu)),
                (Err(cpu), Err(gpu)) => {
                    assert_eq!(cpu, gpu);
                    assert!(cpu.contains("cannot represent"), "{path}: {cpu}");
                    continue;
                }
                (cpu, gpu) => panic!("{path}: {:?} {:?}", cpu.err(), gpu.err()),
            };
            assert_eq!(cpu.len(), gpu.len());
            let size = cpu
                .iter()
                .fold(0.0, |most: f32, value| most.max(value.abs()));
            let off = cpu
                .iter()
                .zip(&gpu)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f32::max);
            println!("{path} by {method}: {:.1e} of {size}", off / size);
            // The measured value is 3.1e-7. A blend of 10 entries rounds about 40 times by 6e-8 of
            // the size.
            assert!(off <= 2.4e-6 * size, "{path} by {method}: {off} of {size}");
        }
    }
}
