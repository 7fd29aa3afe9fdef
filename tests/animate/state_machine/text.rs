//! The text form: there and back, what is wrong with it and where, and texts that are broken at
//! random.

use super::made;
use crate::reference::cases;
use crate::reference::rng::Rng;
use crate::reference::words::{Fails, Says};
use throng::Error;
use throng::character::{AnimationDesc, Character};
use throng::error::DescFault;
use throng::state_machine::{StateMachine, StateMachineDesc};

pub(crate) const HERO: &str = include_str!("../../../examples/machine/hero.toml");

pub(super) fn character() -> &'static Character {
    crate::models::mannequin()
}

fn build(character: &Character, text: &str) -> Result<(), Error> {
    StateMachine::from_toml("hero.toml", text, character)?;
    Ok(())
}

/// The same character with a state machine.
pub(super) fn animated(character: &Character, desc: &StateMachineDesc) -> Result<Character, Error> {
    character.clone().with_animation(&AnimationDesc {
        state_machine: Some(desc.clone()),
        ..AnimationDesc::default()
    })
}

/// The state machine of a character with this description.
pub(super) fn machine(character: &Character, desc: &StateMachineDesc) -> StateMachine {
    let character = animated(character, desc).unwrap();
    character.state_machine().unwrap().clone()
}

#[test]
fn data_comes_back_from_its_text() {
    for seed in 0..300 {
        let desc = made::desc(&mut Rng::new(seed));
        let text = desc.to_toml().unwrap();
        let back = StateMachineDesc::from_toml("random", &text).unwrap();
        assert_eq!(back, desc, "{text}");
        let [back, desc] = [&back, &desc].map(|desc| machine(made::bare(), desc));
        assert_eq!(back, desc);
    }
    let hero = StateMachineDesc::from_toml("hero.toml", HERO).unwrap();
    let again = StateMachineDesc::from_toml("again", &hero.to_toml().unwrap()).unwrap();
    assert_eq!(hero, again);
    let of_text = StateMachine::from_toml("hero.toml", HERO, character()).unwrap();
    assert_eq!(of_text, machine(character(), &hero));
    let empty = StateMachineDesc::from_toml("", "").unwrap();
    assert_eq!(empty, StateMachineDesc::default());
}

/// Replacements in the text of the hero, and the errors that follow.
///
/// The line of an error is the last line of the replaced text.
const BROKEN: &[(&str, &str, &str, &str)] = &cases![
    // replaced text, replacement => the message after the line
    "name = \"jump\", kind = \"trigger\"", "name = \"jump\", kind = \"triger\""
        => "parameter 1 \"jump\"…triger…";
    "name = \"jump\", kind", "name = \"ju mp\", kind" => "parameter 1 \"ju mp\", name…white space…";
    "name = \"jump\", kind", "name = \"speed\", kind" => "parameter 1 \"speed\", name…element 0…";
    "kind = \"bool\", default = true", "kind = \"bool\", default = 1"
        => "parameter 2 \"grounded\"…true or false…";
    "min = 0.0, max = 6.0", "min = 9.0, max = 6.0" => "parameter 0 \"speed\", max…not below `min`…";
    "min = 0.0, max = 6.0", "min = 1.0, max = 6.0" => "parameter 0 \"speed\"…in `min`..=`max`…";
    "min = 0.0, max = 6.0", "min = nan, max = 6.0" => "parameter 0 \"speed\", min…finite…";
    "min = 0.0, max = 6.0", "mni = 0.0, max = 6.0" => "parameter 0 \"speed\"…mni…";
    "joint = \"Spine\"", "joint = \"Spin\"" => "mask 0 \"upper body\", branches[0].joint…\"Spin\"…";
    "feather = 2", "feather = 2, weight = 1.5" => "mask 0 \"upper body\", branches[0].weight…1.5…";
    "feather = 2", "feather = -2" => "mask 0 \"upper body\"…-2…";
    "entry = \"stand\"", "entry = \"stnd\""
        => "layer 0 \"body\", entry…there are stand, move, leap…";
    "entry = \"stand\"", "entry = 3" => "layer 0 \"body\"…must be a string, but is 3…";
    "mask = \"upper body\"", "mask = \"upper\"" => "layer 1 \"gesture\", mask…\"upper\"…";
    "mask = \"upper body\"", "weight = 2.0" => "layer 1 \"gesture\", weight…0..=1…";
    "mask = \"upper body\"", "weight_parameter = \"jump\""
        => "layer 1 \"gesture\", weight_parameter…is a trigger, must be a float…";
    "motion.clip = \"Idle\"", "motion.clip = \"Idel\""
        => "layer \"body\", state 0 \"stand\", motion.clip…there are Idle, Walk, Run, Wave…";
    "motion.clip = \"Idle\"", "motion.clop = \"Idle\"" => "layer \"body\", state 0 \"stand\"…clop…";
    "motion.clip = \"Idle\"", "motoin.clip = \"Idle\""
        => "layer \"body\", state 0 \"stand\"…motoin…";
    "motion.clip = \"Idle\"", "motion.clip = \"Idle\"\nspeed = inf"
        => "layer \"body\", state 0 \"stand\", speed…finite…";
    "motion.clip = \"Idle\"", "motion.clip = \"Idle\"\nspeed = fast"
        => "layer \"body\", state 0 \"stand\"…";
    "at = 3.6, clip = \"Run\"", "at = 3.6, clip = \"Rnu\""
        => "layer \"body\", state 1 \"move\", motion.blend_1d.points[1].clip…Rnu…";
    "at = 3.6, clip = \"Run\"", "at = -inf, clip = \"Run\""
        => "layer \"body\", state 1 \"move\", motion.blend_1d.points[1].at…finite…";
    "ground_speed = \"speed\"", "ground_speed = \"wave\""
        => "layer \"body\", state 1 \"move\", ground_speed…is a trigger, must be a float";
    "ground_speed = \"speed\"", "ground_speed = \"speed\"\nspeed_limits = [0.5]"
        => "layer \"body\", state 1 \"move\"…";
    "blend_1d.parameter = \"speed\"", "blend_1d.parameter = \"sped\""
        => "layer \"body\", state 1 \"move\", motion.blend_1d.parameter…sped…";
    "name = \"leap\"", "name = \"stand\"" => "layer \"body\", state 2 \"stand\", name…element 0…";
    "name = \"leap\"", "name = \"(any)\""
        => "layer \"body\", state 2 \"(any)\", name…must not start with `(`…";
    "name = \"leap\"", "name = \"\"" => "layer \"body\", state 2 \"\", name…empty…";
    "loop_mode = \"once\"\nspeed", "loop_mode = \"twice\"\nspeed"
        => "layer \"body\", state 2 \"leap\"…twice…";
    "when = [\"jump\", \"grounded\"]", "when = [\"jump\", \"grounbed\"]"
        => "layer \"body\", transition 0 \"(any)\" → \"leap\", when[1]…grounbed…";
    "when = [\"jump\", \"grounded\"]", "when = [\"!jump\", \"grounded\"]"
        => "layer \"body\", transition 0 \"(any)\" → \"leap\", when[0]…is a trigger, must be a \
            bool…";
    "when = [\"jump\", \"grounded\"]", "when = [\"jump\", \"grounded >\"]"
        => "layer \"body\", transition 0 \"(any)\" → \"leap\"…condition: needs a number after the \
            comparison…";
    "when = [\"jump\", \"grounded\"]", "when = [\"jump\", \"grounded > 1\"]"
        => "layer \"body\", transition 0 \"(any)\" → \"leap\", when[1]…is a bool, must be a float \
            or int…";
    "when = [\"speed > 0.1\"]", "when = [\"speed >> 0.1\"]"
        => "layer \"body\", transition 1 \"stand\" → \"move\"…comparison \">>\" does not exist: \
            there are >, >=, <, <=, ==, !=…";
    "when = [\"speed > 0.1\"]", "when = [\"speed > inf\"]"
        => "layer \"body\", transition 1 \"stand\" → \"move\", when[0]…finite…";
    "when = [\"speed > 0.1\"]", "when = [\"speed\"]"
        => "layer \"body\", transition 1 \"stand\" → \"move\", when[0]…is a float, must be a bool \
            or trigger…";
    "fade_s = 0.4", "fade_s = -0.4"
        => "layer \"body\", transition 2 \"move\" → \"stand\", fade_s…3600…";
    "fade_s = 0.4", "fade_s = \"0.4\""
        => "layer \"body\", transition 2 \"move\" → \"stand\"…string…";
    "fade_s = 0.4", "fade_s = 0.4 0.5" => "layer \"body\", transition 2 \"move\" → \"stand\"…";
    "fade_s = 0.4", "fade_s = 0.4\nfade_s = 0.5"
        => "layer \"body\", transition 2 \"move\" → \"stand\"…duplicate…";
    "fade_s = 0.15", "fade_s = 0.15\nstart = 0.5"
        => "layer \"body\", transition 3 \"leap\" → \"move\", start…cannot be combined…";
    "synced = true", "sync = \"phase\""
        => "layer \"body\", transition 3 \"leap\" → \"move\"…unknown field…";
    "to = \"stand\"\nwhen = [\"grounded\"]", "to = \"sit\"\nwhen = [\"grounded\"]"
        => "layer \"body\", transition 4 \"leap\" → \"sit\", to…\"sit\"…";
    "from = \"wave\"", "from = \"wawe\""
        => "layer \"gesture\", transition 1 \"wawe\" → \"none\", from…there are wave, none…";
    "exit = 0.85", "exit = -1"
        => "layer \"gesture\", transition 1 \"wave\" → \"none\", exit…not negative…";
    "from = \"wave\"", "from = \"(entry)\""
        => "layer \"gesture\", transition 1 \"(entry)\" → \"none\", from…entry…";
];

#[test]
fn errors_name_the_part_and_the_line() {
    let character = character();
    for (case, there, instead, words) in BROKEN {
        assert_eq!(HERO.matches(there).count(), 1, "{there}");
        let at = HERO.find(there).unwrap();
        let text = HERO.replace(there, instead);
        let error = build(character, &text).unwrap_err();
        let Error::Description {
            file, line: found, ..
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!(&**file, "hero.toml", "{case}");
        // On the line of what differs.
        let same = there
            .bytes()
            .zip(instead.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        let line = text[..at + same].matches('\n').count() + 1;
        let line = if instead[same..].starts_with('\n') {
            line + 1
        } else {
            line
        };
        assert_eq!(*found, Some(line as u32), "{case}: {error}");
        error.says_in(case, format!("hero.toml:{line}: {words}"));
    }
}

#[test]
fn what_is_missing_is_named() {
    let character = character();
    for (gone, part) in [
        (
            "from = \"move\"\n",
            "layer \"body\", transition 2 \"\" → \"stand\"",
        ),
        ("entry = \"stand\"\n", "layer 0 \"body\""),
        ("name = \"leap\"\n", "layer \"body\", state 2 \"\""),
        ("name = \"upper body\"\n", "mask 0 \"\""),
    ] {
        assert_eq!(HERO.matches(gone).count(), 1, "{gone}");
        build(character, &HERO.replace(gone, "")).fails_in(gone, format!("…{part}…missing field…"));
    }
    build(character, "").fails("hero.toml:1: state machine, layer: has no layer");
}

#[test]
fn texts_that_are_broken_at_random_give_errors_with_lines_or_machines() {
    let character = character();
    let mut rng = Rng::new(3);
    let lines: Vec<&str> = HERO.lines().collect();
    let words = [
        "[[layer]]",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "=",
        "nan",
        "inf",
        "-1",
        "1e308",
        "true",
        "\n",
        "'''",
        ".",
        "\u{7f}",
        "99999999999999999999",
        "name = \"x\"",
        "[[layer.state]]",
        "[[layer.transition]]",
        "é",
        "#",
        "(any)",
        "0x7f",
    ];
    let (mut refused, mut taken) = (0, 0);
    for _ in 0..3000 {
        let text = match rng.below(4) {
            // Lines left out, repeated or put elsewhere.
            0 => {
                let mut lines = lines.clone();
                for _ in 0..1 + rng.below(3) {
                    let line = lines.remove(rng.below(lines.len()));
                    if rng.chance(2) {
                        lines.insert(rng.below(lines.len()), line);
                    }
                }
                lines.join("\n")
            }
            1 => {
                let mut bytes = HERO.as_bytes().to_vec();
                for _ in 0..1 + rng.below(4) {
                    let at = rng.below(bytes.len());
                    bytes[at] = rng.bits() as u8;
                }
                String::from_utf8_lossy(&bytes).into_owned()
            }
            2 => {
                let mut text = HERO.to_owned();
                let at = rng.below(text.len());
                text.insert_str(at, words[rng.below(words.len())]);
                text
            }
            _ => HERO[..rng.below(HERO.len())].to_owned(),
        };
        match build(character, &text) {
            Ok(()) => taken += 1,
            Err(error @ Error::Description { line, .. }) => {
                let last = text.matches('\n').count() as u32 + 1;
                assert!(
                    line.is_some_and(|line| (1..=last).contains(&line)),
                    "{error}"
                );
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    println!("{refused} refused, {taken} taken");
    assert!(refused > 1000 && taken > 100);
}

#[test]
fn texts_without_measure_are_refused() {
    let character = character();
    let states = |count: usize| -> String {
        let all = (0..count).map(|i| format!("[[layer.state]]\nname = \"{i}\"\n"));
        format!(
            "[[layer]]\nname = \"l\"\nentry = \"0\"\n{}",
            all.collect::<String>()
        )
    };
    assert!(build(character, &states(256)).is_ok());
    let deep = format!("a = {}", "[".repeat(400_000));
    let keys = format!("{}a = 1", "a.".repeat(400_000));
    let tables = format!(
        "mask = {}1{}",
        "{ a = ".repeat(100_000),
        "}".repeat(100_000)
    );
    // An array under a long key, whose elements must not each get that key.
    let long = format!(
        "[[mask]]\nname = \"m\"\n{} = [{}]",
        "k".repeat(300_000),
        "1,".repeat(300_000)
    );
    let large = " ".repeat((1 << 20) + 1);
    for text in [states(257), deep, keys, tables, long, large] {
        let error = build(character, &text).unwrap_err();
        assert!(
            error.to_string().len() < 2000,
            "{}",
            error.to_string().len()
        );
    }
    let Err(Error::Description {
        line, part, why, ..
    }) = build(character, &states(257))
    else {
        panic!("taken");
    };
    let cap = DescFault::Cap {
        what: "states",
        asked: 257,
        cap: 256,
    };
    assert_eq!((line, *why), (Some(1), cap));
    assert_eq!(&*part, "layer 0 \"l\"");
}
