//! Naming schemes as tables: splits joint names into words and interprets them.

use crate::skeleton::role::{Finger, Side};

/// The part of a body that a joint's name denotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum BodyPart {
    Hips,
    Spine,
    Neck,
    Head,
    Jaw,
    Eye,
    Shoulder,
    UpperArm,
    LowerArm,
    Hand,
    /// The hand, if no joint is called that.
    Wrist,
    UpperLeg,
    /// The upper leg, if no joint is called that.
    SideHip,
    LowerLeg,
    Foot,
    Toes,
    /// Just `arm` or `leg`: its position among the others decides.
    ArmPiece,
    LegPiece,
    Finger(Finger),
}

/// The copy of a skeleton, within a Rigify rig, to which a joint belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BoneCopy {
    Plain,
    Deform,
    Original,
}

/// An interpreted joint name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) part: BodyPart,
    pub(super) side: Option<Side>,
    /// The first number in the name, or the phalanx that it names; -1 for none.
    pub(super) number: i32,
    pub(super) copy: BoneCopy,
}

/// Words that do not describe the part: prefixes of programs and of their schemes.
const NOISE: &str = "mixamorig def org j bip c b m cc valve biped bone joint jnt jt skeleton skel \
    armature rig character char sk adj face facial bend human";

/// Noise words that may be followed directly by a number, which is then noise, too: `Bip01`,
/// `mixamorig1`.
const NUMBERED_NOISE: &str = "bip mixamorig character biped";

/// Words for joints that are not in the body's own chain.
///
/// These are twist joints and other helpers, controls, ends of chains, carried objects, and the
/// bones of the palm.
const OTHERS: &str = "twist roll ik fk pole target ctrl control end nub socket slot handslot helper \
    corrective bck fwd in out prop weapon palm mch wgt vis sec tweak master parent leaf attach \
    dummy effector muscle pocket share vb";

/// Parts on the middle line, with their names.
const MIDDLE: &[(BodyPart, &str)] = &[
    (BodyPart::Hips, "hips hip pelvis"),
    (
        BodyPart::Spine,
        "spine upperspine spineupper lowerspine spinelower",
    ),
    (
        BodyPart::Spine,
        "chest upperchest chestupper chestlower ribcage",
    ),
    (
        BodyPart::Spine,
        "abdomen abdomenlower abdomenupper waist torso",
    ),
    (BodyPart::Neck, "neck necklower neckupper"),
    (BodyPart::Head, "head"),
    (BodyPart::Jaw, "jaw"),
];

/// Parts that both sides have, with their names.
const SIDED: &[(BodyPart, &str)] = &[
    (BodyPart::Eye, "eye"),
    (BodyPart::Shoulder, "shoulder clavicle collar collarbone"),
    (BodyPart::UpperArm, "upperarm armupper uparm shldr"),
    (BodyPart::ArmPiece, "arm"),
    (BodyPart::LowerArm, "forearm lowerarm armlower elbow"),
    (BodyPart::Hand, "hand"),
    (BodyPart::Wrist, "wrist"),
    (BodyPart::UpperLeg, "upperleg legupper upleg thigh"),
    (BodyPart::SideHip, "hip"),
    (BodyPart::LegPiece, "leg"),
    (BodyPart::LowerLeg, "lowerleg leglower calf shin knee"),
    (BodyPart::Foot, "foot ankle"),
    (BodyPart::Toes, "toe toes toebase ball"),
];

/// Finger names, alone or with one of the words for hand and finger before or after.
const FINGERS: &[(Finger, &str)] = &[
    (Finger::Thumb, "thumb"),
    (Finger::Index, "index point"),
    (Finger::Middle, "middle mid"),
    (Finger::Ring, "ring"),
    (Finger::Little, "little pinky pinkie"),
];
const FINGER_WORDS: [&str; 3] = ["hand", "finger", "f"];

/// True if a list, separated by spaces, has the word.
fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

fn find<T: Clone>(table: &[(T, &str)], name: &str) -> Option<T> {
    let found = table.iter().find(|(_, names)| has(names, name));
    found.map(|(of, _)| of.clone())
}

/// The joints of a finger, in words.
const PHALANGES: &[(&str, i32)] = &[
    ("metacarpal", 0),
    ("proximal", 1),
    ("intermediate", 2),
    ("distal", 3),
];

/// Names longer than this are not interpreted.
const LONGEST: usize = 128;

/// Interprets a joint's name. `None` if it does not name a part of a body.
pub(super) fn named(name: &str) -> Option<Named> {
    if name.len() > LONGEST {
        return None;
    }
    let words = sides_apart(cut(own_name(name)));
    let mut found = Found::default();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if has(NUMBERED_NOISE, &word.text) {
            words.next_if(|next| next.is_number && next.is_joined);
        }
        if word.text == "cc" {
            words.next_if(|next| next.text == "base");
        }
        found.read(word)?;
    }
    found.finish()
}

/// The name without namespaces: the text after the last `:` or `|`.
pub(super) fn own_name(name: &str) -> &str {
    name.rsplit([':', '|']).next().unwrap_or(name)
}

#[derive(Default)]
struct Found {
    key: String,
    side: Option<Side>,
    number: Option<String>,
    phalanx: Option<i32>,
    copy: Option<BoneCopy>,
}

impl Found {
    /// Reads one word. `None` if the word says that the joint is something else.
    fn read(&mut self, word: &Word) -> Option<()> {
        let text = &*word.text;
        let side = match text {
            "l" | "left" | "lft" => Some(Side::Left),
            "r" | "right" | "rgt" => Some(Side::Right),
            _ => None,
        };
        let phalanx = PHALANGES.iter().find(|(name, _)| *name == text);
        if has(OTHERS, text) {
            return None;
        } else if let Some(side) = side {
            if self.side.is_some_and(|known| known != side) {
                return None;
            }
            self.side = Some(side);
        } else if word.is_number {
            self.number.get_or_insert_with(|| text.into());
        } else if let Some((_, order)) = phalanx {
            self.phalanx = Some(*order);
        } else if !has(NOISE, text) {
            self.key.push_str(text);
        } else if self.key.is_empty() {
            match text {
                "def" => self.copy = Some(BoneCopy::Deform),
                "org" => self.copy = Some(BoneCopy::Original),
                _ => {}
            }
        }
        Some(())
    }

    fn finish(self) -> Option<Named> {
        let digits = self.number.as_deref();
        let number = digits.map_or(-1, |digits| digits.parse().unwrap_or(i32::MAX));
        let copy = self.copy.unwrap_or(BoneCopy::Plain);
        let side = self.side;
        let table = if side.is_some() { SIDED } else { MIDDLE };
        if let (Some(part), None) = (find(table, &self.key), self.phalanx) {
            return Some(Named {
                part,
                side,
                number,
                copy,
            });
        }
        side?;
        let (finger, number) = if self.key == "finger" {
            biped_finger(digits?)?
        } else {
            let finger = finger(&self.key)?;
            // The metacarpals of the other fingers are bones of the palm.
            if self.phalanx == Some(0) && finger != Finger::Thumb {
                return None;
            }
            (finger, self.phalanx.unwrap_or(number))
        };
        Some(Named {
            part: BodyPart::Finger(finger),
            side,
            number,
            copy,
        })
    }
}

fn finger(key: &str) -> Option<Finger> {
    let around = FINGER_WORDS
        .iter()
        .flat_map(|word| [key.strip_prefix(word), key.strip_suffix(word)]);
    let mut names = std::iter::once(key).chain(around.flatten());
    names.find_map(|name| find(FINGERS, name))
}

/// Biped's `Finger0`, `Finger01`, `Finger02`: the number of the finger from the thumb on, then of
/// the joint.
fn biped_finger(digits: &str) -> Option<(Finger, i32)> {
    let (first, rest) = digits.split_at_checked(1)?;
    let finger = Finger::ALL.get(first.parse::<usize>().ok()?)?;
    let joint = if rest.is_empty() {
        0
    } else {
        rest.parse().ok()?
    };
    Some((*finger, joint))
}

/// A run of letters, in lower case, or of digits.
struct Word {
    text: String,
    is_number: bool,
    /// True if nothing separates it from the word before.
    is_joined: bool,
}

/// Splits a name into words.
///
/// It splits at everything but letters and digits, between letters and digits, and at changes of
/// case: `LeftForeArm`, `handIK`, `IKHand`.
fn cut(name: &str) -> Vec<Word> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<Word> = Vec::new();
    let mut before = ' ';
    for (at, letter) in letters.iter().copied().enumerate() {
        if letter.is_alphanumeric() {
            let next = letters.get(at + 1).copied().unwrap_or(' ');
            let starts = !before.is_alphanumeric()
                || before.is_numeric() != letter.is_numeric()
                || letter.is_uppercase() && (before.is_lowercase() || next.is_lowercase());
            if starts {
                words.push(Word {
                    text: String::new(),
                    is_number: letter.is_numeric(),
                    is_joined: before.is_alphanumeric(),
                });
            }
            if let Some(word) = words.last_mut() {
                word.text.extend(letter.to_lowercase());
            }
        }
        before = letter;
    }
    words
}

/// Splits off `left` and `right` as words of their own, in names whose case does not show them.
fn sides_apart(words: Vec<Word>) -> Vec<Word> {
    let mut apart = Vec::with_capacity(words.len());
    for mut word in words {
        let starts = |side: &&str| word.text.len() > side.len() && word.text.starts_with(*side);
        if let Some(side) = ["left", "right"].iter().find(|side| starts(side)) {
            let rest = Word {
                text: word.text.split_off(side.len()),
                is_number: false,
                is_joined: true,
            };
            apart.extend([word, rest]);
        } else {
            apart.push(word);
        }
    }
    apart
}

/// The name in a normal form, independent of namespaces, case, separators and Mixamo's prefix.
pub(super) fn loose(name: &str) -> String {
    let name = own_name(name);
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    let all: String = letters.flat_map(char::to_lowercase).collect();
    match all.strip_prefix("mixamorig") {
        Some(rest) => rest.trim_start_matches(char::is_numeric).into(),
        None => all,
    }
}

/// A name without the number that tells it from an equal one, and that number with its separator:
/// `Hips_1`, `Hips.001`. The second is empty if there is none.
pub(super) fn without_number(name: &str) -> (&str, &str) {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let stem = word.trim_end_matches(['_', '.', '-', ' ']);
    match word.len() == name.len() || stem.len() == word.len() || stem.is_empty() {
        true => (name, ""),
        false => name.split_at(stem.len()),
    }
}
