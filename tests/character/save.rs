//! Saved characters are read back as they were.
//!
//! Bytes that were cut or altered give an error, or a sound character.

use crate::reference::batch::{Batch, Sample};
use crate::reference::rng::Rng;
use crate::reference::signed::{ENTRY, HEADER, Section, file, sections, sign};
use crate::reference::words::{Fails, Says};
use crate::reference::{assets, random};
use std::ops::Range;
use std::sync::LazyLock;
use throng::character::{
    AdditiveDesc, AnimationDesc, BlendAt, BlendSpaceDesc, Character, ClipDesc, EventDesc, Gait,
    RootMotionDesc, SocketDesc,
};
use throng::error::SavedFault;
use throng::import::{ImportOptions, RawCharacter};
use throng::palette::Mat3x4;
use throng::skeleton::Transform;
use throng::state_machine::{
    BlendPointDesc, Condition, LayerDesc, MaskBranchDesc, MaskDesc, Origin, ParameterDesc,
    ParameterKind, StateDesc, StateMachineDesc, Test, TransitionDesc,
};
use throng::{Error, SimdLevel};

/// The built-in character and random ones.
fn made(options: &ImportOptions, seeds: Range<u64>) -> Vec<(String, Character)> {
    let mut all: Vec<(String, Character)> = Vec::new();
    let built_in = RawCharacter::mannequin().build(options).unwrap().character;
    all.push(("built-in".into(), built_in));
    for seed in seeds {
        let made = random::morphing(seed).build(options).unwrap().character;
        all.push((format!("random {seed}"), made));
    }
    all
}

/// The built-in character with everything that an animation set may hold.
fn animated() -> &'static Character {
    static ANIMATED: LazyLock<Character> = LazyLock::new(make_animated);
    &ANIMATED
}

fn make_animated() -> Character {
    let event = |name: &str, time_s| EventDesc {
        name: name.into(),
        time_s,
    };
    let point = |at, clip: &str| BlendPointDesc {
        at,
        clip: clip.into(),
    };
    let branch = MaskBranchDesc {
        joint: "Spine".into(),
        weight: 1.0,
        feather: 1,
    };
    let mask = MaskDesc {
        name: "upper".into(),
        branches: vec![branch],
    };
    let go = TransitionDesc {
        when: vec![Condition {
            parameter: "speed".into(),
            test: Test::Greater(0.5),
        }],
        fade_s: 0.2,
        ..TransitionDesc::new(Origin::State("stand".into()), "go")
    };
    let base = LayerDesc {
        states: vec![
            StateDesc::clip("stand", "Idle"),
            StateDesc::clip("go", "Walk"),
        ],
        transitions: vec![go],
        ..LayerDesc::new("base", "stand")
    };
    let arms = LayerDesc {
        mask: Some("upper".into()),
        states: vec![StateDesc::clip("wave", "Wave")],
        ..LayerDesc::new("arms", "wave")
    };
    let speed = ParameterKind::Float {
        default: 0.0,
        min: Some(0.0),
        max: None,
    };
    let animation = AnimationDesc {
        masks: vec![mask],
        clips: vec![ClipDesc {
            name: "Walk".into(),
            events: vec![event("right", 0.6), event("left", 0.1), event("right", 0.0)],
            root_motion: Some(RootMotionDesc::default()),
            gait: Some(Gait {
                speed_m_s: 1.5,
                heading_rad: 0.25,
            }),
        }],
        additive: vec![AdditiveDesc {
            name: Some("Lean".into()),
            clip: "Wave".into(),
            ..AdditiveDesc::default()
        }],
        blend_spaces: vec![
            BlendSpaceDesc {
                name: "pace".into(),
                points: vec![
                    point(BlendAt::Line(0.0), "Idle"),
                    point(BlendAt::Line(1.4), "Walk"),
                ],
                ..BlendSpaceDesc::default()
            },
            BlendSpaceDesc {
                name: "plane".into(),
                points: vec![
                    point(BlendAt::Plane([0.0, 0.0]), "Idle"),
                    point(BlendAt::Plane([1.0, 0.0]), "Walk"),
                    point(BlendAt::Plane([0.0, 2.0]), "Run"),
                ],
                ..BlendSpaceDesc::default()
            },
        ],
        sockets: vec![SocketDesc::new("sword", "RightHand")],
        state_machine: Some(StateMachineDesc {
            parameters: vec![ParameterDesc {
                name: "speed".into(),
                kind: speed,
            }],
            masks: Vec::new(),
            layers: vec![base, arms],
        }),
        ..AnimationDesc::default()
    };
    let options = ImportOptions {
        animation: Some(animation),
        ..ImportOptions::default()
    };
    RawCharacter::mannequin().build(&options).unwrap().character
}

#[test]
fn what_belongs_to_the_animation_is_read_back() {
    let character = animated();
    let read = Character::from_bytes(&character.to_bytes(), &Default::default()).unwrap();
    assert!(read == *character);
    let walk = read.clip("Walk").unwrap();
    assert!(read.root_motion(walk).is_some() && read.state_machine().is_some());
    assert_eq!(read.events(walk).len(), 3);
    assert_eq!(
        read.event("right").unwrap(),
        character.event("right").unwrap()
    );
    assert_eq!(read.gait(walk).unwrap().heading_rad, 0.25);
    assert!(read.clips()[read.clip("Lean").unwrap().index()].is_additive());
    play(&read);
    // Altered bytes are refused, or give a sound character.
    let bytes = character.to_bytes();
    let mut rng = Rng::new(9);
    let (mut refused, mut taken) = (0, 0);
    for _ in 0..500 {
        let mut altered = bytes.clone();
        // The animation set comes last.
        let at = bytes.len() - 1 - rng.below(2500);
        altered[at] = rng.bits() as u8;
        sign(&mut altered);
        match Character::from_bytes(&altered, &Default::default()) {
            Ok(_) => taken += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    println!("{refused} refused, {taken} taken");
    assert!(refused > 100, "{refused} refused, {taken} taken");
}

fn fault(bytes: &[u8]) -> SavedFault {
    match Character::from_bytes(bytes, &Default::default()) {
        Err(Error::Saved { why, .. }) => why,
        other => panic!("{:?}", other.map(|_| ())),
    }
}

/// Plays a character with all functions that trust its data.
fn play(character: &Character) {
    let mut instances = Vec::new();
    for (index, clip) in character.clips().iter().enumerate() {
        for time_s in [
            -1.0,
            0.0,
            0.4 * clip.duration_s(),
            clip.duration_s(),
            f64::NAN,
        ] {
            instances.push([Sample::new(index, time_s)]);
            let mut local = vec![Transform::IDENTITY; character.skeleton().len()];
            clip.sample(time_s, &mut local).unwrap();
            let mut sum = 0.0;
            clip.sample_weights(time_s, |id, value| {
                assert!(id.index() < character.morph_weights().len());
                sum += value;
            });
        }
    }
    Batch::new(character, SimdLevel::default(), &instances).palettes(Mat3x4::IDENTITY);
}

#[test]
fn what_was_saved_is_read_back_as_it_was() {
    let with_curves = with_curves();
    let mut all = made(&with_curves, 0..6);
    // The same files without their curves would say nothing new.
    for path in assets::files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        all.push((
            name,
            throng_import::file(&path, &with_curves).unwrap().character,
        ));
    }
    all.extend(made(&ImportOptions::default(), 6..12));
    all.push(("animated".into(), animated().clone()));
    for (name, character) in all {
        let bytes = character.to_bytes();
        let read = Character::from_bytes(&bytes, &Default::default()).unwrap();
        assert!(read == character, "{name}");
        assert_eq!(read.to_bytes(), bytes, "{name}");
        play(&read);
        let images = character.images().iter();
        let images: usize = images.map(|image| image.rgba().unwrap().len()).sum();
        println!("{name}: {} bytes, {images} of them images", bytes.len());
    }
}

/// Small characters with packed and plain clips, tracks that are kept, and morph targets.
pub(crate) fn small() -> &'static [Character] {
    static SMALL: LazyLock<Vec<Character>> = LazyLock::new(make_small);
    &SMALL
}

fn make_small() -> Vec<Character> {
    let mut all: Vec<Character> = [1, 4, 9]
        .map(|seed| {
            let made = random::morphing(seed);
            made.build(&with_curves()).unwrap().character
        })
        .into();
    let plain = throng::clip::ClipOptions {
        quantise: false,
        ..Default::default()
    };
    let options = ImportOptions {
        packing: Some(plain),
        ..Default::default()
    };
    all.push(random::morphing(2).build(&options).unwrap().character);
    all
}

#[test]
fn foreign_bytes_and_other_versions_are_refused() {
    let bytes = small()[0].to_bytes();
    for foreign in [&b""[..], b"glTF", &[0; 100], &bytes[1..]] {
        assert_eq!(fault(foreign), SavedFault::Magic);
    }
    let length = |got, need| SavedFault::Length { got, need };
    assert_eq!(fault(&bytes[..12]), length(12, 32));
    let need = bytes.len() as u64;
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(fault(&longer), length(need + 1, need));
    for found in [0, 1, 3, 77, u32::MAX] {
        let mut other = bytes.clone();
        other[16..20].copy_from_slice(&found.to_le_bytes());
        sign(&mut other);
        assert_eq!(fault(&other), SavedFault::Version { found, known: 2 });
    }
    // The first version's header: no table, and another checksum.
    let mut old = b"throng\r\n".to_vec();
    old.extend(1_u32.to_le_bytes());
    old.resize(64, 0);
    Character::from_bytes(&old, &Default::default()).fails(
        "saved character: has format version 1, but this version of the crate reads only 2: save \
         the character again",
    );
}

#[test]
fn the_checksum_finds_every_altered_byte() {
    let bytes = small()[0].to_bytes();
    let mut rng = Rng::new(2);
    for round in 0..2000 {
        // Header and table first. Signature, version and length have errors of their own.
        let at = match 8 + round {
            at if at < HEADER + 7 * ENTRY => at,
            _ => HEADER + rng.below(bytes.len() - HEADER),
        };
        let mut altered = bytes.clone();
        altered[at] ^= 1 << rng.below(8);
        match (fault(&altered), at) {
            (SavedFault::Checksum { section }, 8..16 | 20..24) => assert_eq!(&*section, "table"),
            (SavedFault::Checksum { .. }, _) => {}
            (SavedFault::Version { .. }, 16..20) | (SavedFault::Length { .. }, 20..32) => {}
            // The zeros between two sections.
            (SavedFault::Section { why, .. }, _) => {
                why.says("is preceded by bytes that are not 0");
            }
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

#[test]
fn cut_bytes_give_errors() {
    let mut rng = Rng::new(3);
    for character in small() {
        let bytes = character.to_bytes();
        let random = (0..300).map(|_| rng.below(bytes.len()));
        for end in (0..HEADER + 7 * ENTRY).chain(random) {
            let cut = &bytes[..end];
            match fault(cut) {
                SavedFault::Magic => assert!(end < 8),
                SavedFault::Length { got, .. } => assert_eq!(got, end as u64),
                other => panic!("{end} bytes: {other:?}"),
            }
            // With a new checksum, the table finds the end.
            let mut cut = bytes[..end.max(HEADER)].to_vec();
            sign(&mut cut);
            assert!(Character::from_bytes(&cut, &Default::default()).is_err());
        }
    }
}

/// Every section, cut at every byte, in a file whose table and checksum fit.
#[test]
fn cut_sections_give_errors() {
    let arm = &small()[0];
    let all = sections(&arm.to_bytes());
    assert_eq!(file(&all), arm.to_bytes());
    for (index, section) in all.iter().enumerate() {
        let length = section.contents.len();
        for end in (0..length).step_by(1 + length / 2000) {
            let mut cut = all.clone();
            cut[index].contents.truncate(end);
            fault(&file(&cut));
        }
        let mut longer = all.clone();
        longer[index].contents.push(0);
        let why = "has bytes after its end";
        assert_eq!(fault(&file(&longer)), of_section(&section.name, why));
    }
}

fn of_section(name: &str, why: &'static str) -> SavedFault {
    let name = name.into();
    SavedFault::Section { name, why }
}

fn extra(flags: u32) -> Section {
    Section {
        name: "levels-of-detail".into(),
        flags,
        version: 1,
        contents: vec![7; 100],
    }
}

#[test]
fn sections_are_known_or_optional() {
    let character = &small()[0];
    let all = sections(&character.to_bytes());
    let names: Vec<_> = all.iter().map(|section| &*section.name).collect();
    assert_eq!(
        names,
        [
            "skeleton",
            "mesh",
            "materials",
            "images",
            "curves",
            "clips",
            "animations",
            "expressions",
            "springs",
            "humanoid"
        ]
    );
    // A section of a later version is skipped, wherever it is, unless it is required.
    for at in 0..=all.len() {
        let mut more = all.clone();
        more.insert(at, extra(0));
        assert!(Character::from_bytes(&file(&more), &Default::default()).unwrap() == *character);
        more[at].flags = 1;
        let unknown = "is required, but this version of the crate does not know it";
        assert_eq!(fault(&file(&more)), of_section("levels-of-detail", unknown));
    }
    for index in 0..all.len() {
        let name = &*all[index].name;
        let mut fewer = all.clone();
        fewer.remove(index);
        assert_eq!(fault(&file(&fewer)), of_section(name, "is missing"));
        let mut twice = all.clone();
        twice.push(all[index].clone());
        assert_eq!(fault(&file(&twice)), of_section(name, "exists twice"));
        let known = all[index].version;
        for found in [0, known - 1, known + 1] {
            let mut other = all.clone();
            other[index].version = found;
            let name = name.into();
            let why = SavedFault::SectionVersion { name, found, known };
            assert_eq!(fault(&file(&other)), why);
        }
        // Neither a gap nor an overlap.
        let entry = HEADER + index * ENTRY;
        for change in [-16_i64, 8, 16, 1 << 40, i64::MIN] {
            let mut moved = character.to_bytes();
            let at: &mut [u8; 8] = (&mut moved[entry + 24..][..8]).try_into().unwrap();
            *at = (i64::from_le_bytes(*at).wrapping_add(change)).to_le_bytes();
            sign(&mut moved);
            let why = "does not start where the one before ends";
            assert_eq!(fault(&moved), of_section(name, why));
        }
        for length in [u64::MAX, u64::MAX - 500, 1 << 60, 1 << 33] {
            let mut long = character.to_bytes();
            long[entry + 32..][..8].copy_from_slice(&length.to_le_bytes());
            sign(&mut long);
            assert_eq!(fault(&long), of_section(name, "ends after the file"));
        }
    }
    let many = vec![extra(0); 65];
    let invalid = |what, why| SavedFault::Invalid { what, why };
    assert_eq!(
        fault(&file(&many)),
        invalid("table", "has more than 64 sections")
    );
    let mut longer = file(&all);
    longer.push(0);
    sign(&mut longer);
    let why = "has bytes after its last section";
    assert_eq!(fault(&longer), invalid("file", why));
    for name in ["", "\u{7}", "a b"] {
        let mut odd = all.clone();
        odd[0].name = name.into();
        let why = "has a section whose name is not ASCII";
        assert_eq!(fault(&file(&odd)), invalid("table", why));
    }
}

/// The size of a list that a file states takes no memory unless the file has the elements.
#[test]
fn stated_counts_take_no_memory() {
    let bytes = animated().to_bytes();
    let all = sections(&bytes);
    for (index, section) in all.iter().enumerate() {
        for at in (0..section.contents.len().saturating_sub(8))
            .step_by(8)
            .take(500)
        {
            let mut altered = all.clone();
            altered[index].contents[at..at + 8].copy_from_slice(&[0xFF; 8]);
            let _ = Character::from_bytes(&file(&altered), &Default::default());
        }
    }
}

/// Bytes that were altered on purpose are refused, or give a character that can be played.
#[test]
fn altered_bytes_give_errors_or_a_sound_character() {
    let mut rng = Rng::new(4);
    let (mut refused, mut taken) = (0, 0);
    for character in small() {
        let bytes = character.to_bytes();
        for round in 0..3000 {
            let mut altered = bytes.clone();
            for _ in 0..=rng.below(3) {
                // Half of them are in the clips, which come last.
                let from = if round % 2 == 0 {
                    HEADER
                } else {
                    bytes.len() / 2
                };
                let at = from + rng.below(bytes.len() - from);
                match rng.below(4) {
                    0 => altered[at] = rng.bits() as u8,
                    1 => altered[at] ^= 1 << rng.below(8),
                    2 => altered[at] = [0, 1, 0x7F, 0x80, 0xFF][rng.below(5)],
                    _ => {
                        let end = (at + 8).min(altered.len());
                        let value = rng.bits() >> rng.below(64);
                        altered[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
                    }
                }
            }
            sign(&mut altered);
            match Character::from_bytes(&altered, &Default::default()) {
                Ok(character) => {
                    taken += 1;
                    play(&character);
                }
                Err(error) => {
                    refused += 1;
                    assert!(!error.to_string().is_empty());
                }
            }
        }
    }
    println!("{refused} refused, {taken} taken");
    assert!(
        refused > 1000 && taken > 1000,
        "{refused} refused, {taken} taken"
    );
}

/// Numbers whose sums and products with others wrap where `usize` has 32 bits.
///
/// They are put at every byte of the smallest character, and at random ones of the others.
#[test]
fn large_numbers_give_errors_or_a_sound_character() {
    let mut rng = Rng::new(5);
    let (mut refused, mut taken) = (0, 0);
    for (number, character) in small().iter().enumerate() {
        let all = sections(&character.to_bytes());
        for (index, section) in all.iter().enumerate() {
            let ends = section.contents.len().saturating_sub(3);
            let places: Vec<usize> = if number == 1 {
                (0..ends).collect()
            } else {
                (0..ends.min(200)).map(|_| rng.below(ends)).collect()
            };
            for at in places {
                let value = match rng.below(4) {
                    0 => 1_u32 << (24 + rng.below(8)),
                    _ => u32::MAX - rng.below(4) as u32,
                };
                let mut altered = all.clone();
                altered[index].contents[at..at + 4].copy_from_slice(&value.to_le_bytes());
                match Character::from_bytes(&file(&altered), &Default::default()) {
                    Ok(character) => {
                        taken += 1;
                        play(&character);
                    }
                    Err(error) => {
                        refused += 1;
                        assert!(!error.to_string().is_empty());
                    }
                }
            }
        }
    }
    println!("{refused} refused, {taken} taken");
    assert!(
        refused > 3000 && taken > 1000,
        "{refused} refused, {taken} taken"
    );
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
