//! Altered and truncated files, and caps.

use crate::ascii::arm;
use throng::Error;
use throng::error::AssetFault;
use throng::import::{ImportLimits, ImportOptions};
use throng_reference::cases;
use throng_reference::words::Says;

/// A small generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Caps that keep a mutant from taking long.
fn options() -> ImportOptions {
    ImportOptions {
        limits: ImportLimits {
            decoded_bytes: 64 << 20,
            keys: 1 << 16,
            ..ImportLimits::default()
        },
        name: "f.fbx".into(),
        ..ImportOptions::curves_only()
    }
}

/// True if it is imported. Otherwise the error is typed.
#[track_caller]
fn imports(bytes: &[u8]) -> bool {
    match throng_import::bytes(bytes, &options()) {
        Ok(_) => true,
        // Poses that could leave the range of numbers are refused by primitive, joint or clip.
        Err(Error::Asset { .. } | Error::At { .. }) => false,
        Err(error) => panic!("{error:?}"),
    }
}

#[track_caller]
fn refused(bytes: &[u8], options: &ImportOptions) -> String {
    match throng_import::bytes(bytes, options) {
        Ok(_) => panic!("it was imported"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn flipped_bytes_never_panic() {
    let seed = arm().0.text().into_bytes();
    let mut random = Random(7);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..2000 {
        let mut bytes = seed.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = match random.below(4) {
                0 => bytes[at] ^ 1 << random.below(8),
                1 => b"0123456789-,*{}\":\n"[random.below(18)],
                2 => b'9',
                _ => random.below(256) as u8,
            };
        }
        *(if imports(&bytes) { &mut good } else { &mut bad }) += 1;
    }
    assert!(good > 100 && bad > 100, "{good} imported, {bad} refused");
}

#[test]
fn odd_numbers_never_panic() {
    let seed = arm().0.text();
    let places: Vec<(usize, usize)> = numbers(&seed);
    let odd = [
        "-1",
        "0",
        "1",
        "99",
        "2147483647",
        "-2147483648",
        "4294967296",
        "1e39",
        "-1e400",
        "nan",
        "inf",
        "9223372036854775807",
        "1e-300",
        "\"x\"",
        "",
    ];
    let mut random = Random(11);
    for _ in 0..1500 {
        let (start, end) = places[random.below(places.len())];
        let odd = odd[random.below(odd.len())];
        imports(format!("{}{odd}{}", &seed[..start], &seed[end..]).as_bytes());
    }
}

/// The ranges of bytes that hold numbers.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (start, c.is_ascii_digit() || c == '-' || c == '.') {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                all.push((from, at));
                start = None;
            }
            _ => {}
        }
    }
    all
}

#[test]
fn truncations_never_panic() {
    let seed = arm().0.text().into_bytes();
    for end in (0..seed.len()).step_by(seed.len() / 500) {
        imports(&seed[..end]);
    }
}

#[test]
fn binary_headers_never_panic() {
    let mut random = Random(3);
    for round in 0..500 {
        let mut bytes = b"Kaydara FBX Binary  \0\x1a\0".to_vec();
        bytes.extend([[0xE8, 0x1C, 0, 0], [0x4C, 0x1D, 0, 0]][round % 2]);
        bytes.extend((0..random.below(200)).map(|_| random.below(256) as u8));
        assert!(!imports(&bytes));
    }
}

#[test]
fn other_files_are_refused() {
    let refused = |bytes: &[u8]| refused(bytes, &options());
    let other = "f.fbx: file: is not an FBX file";
    assert_eq!(refused(b""), other);
    assert_eq!(refused(b"{\"FBXHeaderExtension\": {}}"), other);
    assert_eq!(refused(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), other);
    refused(b"Kaydara FBX Binary  \0\x1a\0\xE8\x1C\0\0")
        .says("f.fbx: file: cannot be read as FBX: …");
}

#[test]
fn caps_name_what_is_too_much() {
    let text = arm().0.text();
    let with = |change: fn(&mut ImportOptions)| {
        let mut options = options();
        change(&mut options);
        refused(text.as_bytes(), &options)
    };
    type Set = fn(&mut ImportOptions);
    let cases: [(&str, Set, &str); 8] = cases![
        |o| o.limits.nodes = 2 => "nodes: 4 exceeds the limit of 2";
        |o| o.limits.vertices = 6 => "vertices: 7 exceeds the limit of 6";
        |o| o.limits.indices = 8 => "indices: 9 exceeds the limit of 8";
        |o| o.limits.primitives = 0 => "primitives: 1 exceeds the limit of 0";
        |o| o.limits.morph_targets = 0 => "morph weights: 1 exceeds the limit of 0";
        |o| o.limits.morph_elements = 0 => "morph target elements: 1 exceeds the limit of 0";
        |o| o.limits.keys = 5 => "keys: ";
        |o| o.limits.decoded_bytes = 1000 => "exceeds the limit of 1000";
    ];
    for (case, change, part) in cases {
        with(change).says_in(case, format!("…{part}…"));
    }
}

#[test]
fn memory_is_limited_while_reading() {
    // An array that claims 2 GB.
    let text = arm()
        .0
        .text()
        .replacen("Vertices: *21", "Vertices: *268435456", 1);
    let small = ImportOptions {
        limits: ImportLimits {
            decoded_bytes: 1 << 20,
            ..ImportLimits::default()
        },
        ..options()
    };
    let result = throng_import::bytes(text.as_bytes(), &small);
    // The claim is a hint in text files. Either it is ignored or the limit is named.
    if let Err(error) = result {
        let Error::Asset { why, .. } = error else {
            panic!("{error:?}");
        };
        assert!(
            matches!(why, AssetFault::Cap { .. } | AssetFault::Fbx(_)),
            "{why:?}"
        );
    }
}

#[test]
#[ignore = "needs files: THRONG_FBX names a folder"]
fn altered_published_files_never_panic() {
    let folder = std::env::var_os("THRONG_FBX").unwrap();
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut random = Random(5);
    let (mut good, mut bad) = (0, 0);
    for path in files.filter(|p| p.extension().is_some_and(|e| e == "fbx")) {
        let seed = std::fs::read(&path).unwrap();
        if seed.len() > 200_000 {
            continue;
        }
        for _ in 0..20 {
            let mut bytes = seed.clone();
            for _ in 0..=random.below(6) {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
            *(if imports(&bytes) { &mut good } else { &mut bad }) += 1;
        }
    }
    println!("{good} imported, {bad} refused");
    assert!(good > 0, "THRONG_FBX holds no small .fbx file");
}

/// With such keys, ufbx would loop forever.
#[test]
fn key_times_that_are_not_finite_are_refused() {
    let of = |time: &str| take_of_version_6(time).into_bytes();
    assert!(imports(&of("46186158000")));
    for (time, shown) in [("nan", "NaN"), ("inf", "inf"), ("-inf", "-inf")] {
        let why = format!("f.fbx: file, curve 0: the time of key 1 is {shown}, must be finite");
        assert_eq!(refused(&of(time), &options()), why);
    }
}

/// A triangle that moves, with the second key at this time.
fn take_of_version_6(time: &str) -> String {
    format!(
        r#"; FBX 6.1.0 project file
FBXHeaderExtension: {{ FBXHeaderVersion: 1003
    FBXVersion: 6100
}}
Objects: {{
    Model: "Model::cube", "Mesh" {{ Version: 232
        Vertices: 0,0,0,1,0,0,0,1,0
        PolygonVertexIndex: 0,1,-3
    }}
}}
Connections: {{
    Connect: "OO", "Model::cube", "Model::Scene"
}}
Takes: {{
    Take: "Take" {{ LocalTime: 0,46186158000
        Model: "Model::cube" {{ Version: 1.1
            Channel: "Transform" {{
                Channel: "T" {{
                    Channel: "X" {{ KeyVer: 4005
                        KeyCount: 2
                        Key: 0,1,L,{time},2,L
                    }}
                }}
            }}
        }}
    }}
}}
"#
    )
}
