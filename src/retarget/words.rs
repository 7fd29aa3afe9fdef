//! Naming schemes as tables: splits joint names into words and interprets them.

use crate::skeleton::role::{Finger, Side};

/// The part of a body that a joint's name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Part {
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
pub(super) enum Copy {
    Plain,
    Deform,
    Original,
}

/// An interpreted joint name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) part: Part,
    pub(super) side: Option<Side>,
    /// The first number in the name, or the phalanx that it names; -1 for none.
    pub(super) number: i32,
    pub(super) copy: Copy,
}

/// Words that do not describe the part: prefixes of programs and of their schemes.
const NOISE: &[&str] = &[
    "mixamorig",
    "def",
    "org",
    "j",
    "bip",
    "c",
    "b",
    "m",
    "cc",
    "valve",
    "biped",
    "bone",
    "joint",
    "jnt",
    "jt",
    "skeleton",
    "skel",
    "armature",
    "rig",
    "character",
    "char",
    "sk",
    "adj",
    "face",
    "facial",
    "bend",
    "human",
];

/// Noise words that may be followed directly by a number, which is then noise, too: `Bip01`,
/// `mixamorig1`.
const NUMBERED_NOISE: &[&str] = &["bip", "mixamorig", "character", "biped"];

/// Words for joints that are not in the body's own chain.
///
/// These are twist joints and other helpers, controls, ends of chains, carried objects, and the
/// bones of the palm.
const OTHERS: &[&str] = &[
    "twist",
    "roll",
    "ik",
    "fk",
    "pole",
    "target",
    "ctrl",
    "control",
    "end",
    "nub",
    "socket",
    "slot",
    "handslot",
    "helper",
    "corrective",
    "bck",
    "fwd",
    "in",
    "out",
    "prop",
    "weapon",
    "palm",
    "mch",
    "wgt",
    "vis",
    "sec",
    "tweak",
    "master",
    "parent",
    "leaf",
    "attach",
    "dummy",
    "effector",
    "muscle",
    "pocket",
    "share",
    "vb",
];

/// Parts on the middle line.
const MIDDLE: &[(&str, Part)] = &[
    ("hips", Part::Hips),
    ("hip", Part::Hips),
    ("pelvis", Part::Hips),
    ("spine", Part::Spine),
    ("chest", Part::Spine),
    ("upperchest", Part::Spine),
    ("chestupper", Part::Spine),
    ("chestlower", Part::Spine),
    ("abdomen", Part::Spine),
    ("abdomenlower", Part::Spine),
    ("abdomenupper", Part::Spine),
    ("waist", Part::Spine),
    ("torso", Part::Spine),
    ("ribcage", Part::Spine),
    ("upperspine", Part::Spine),
    ("spineupper", Part::Spine),
    ("lowerspine", Part::Spine),
    ("spinelower", Part::Spine),
    ("neck", Part::Neck),
    ("necklower", Part::Neck),
    ("neckupper", Part::Neck),
    ("head", Part::Head),
    ("jaw", Part::Jaw),
];

/// Parts that both sides have.
const SIDED: &[(&str, Part)] = &[
    ("eye", Part::Eye),
    ("shoulder", Part::Shoulder),
    ("clavicle", Part::Shoulder),
    ("collar", Part::Shoulder),
    ("collarbone", Part::Shoulder),
    ("upperarm", Part::UpperArm),
    ("armupper", Part::UpperArm),
    ("uparm", Part::UpperArm),
    ("shldr", Part::UpperArm),
    ("arm", Part::ArmPiece),
    ("forearm", Part::LowerArm),
    ("lowerarm", Part::LowerArm),
    ("armlower", Part::LowerArm),
    ("elbow", Part::LowerArm),
    ("hand", Part::Hand),
    ("wrist", Part::Wrist),
    ("upperleg", Part::UpperLeg),
    ("legupper", Part::UpperLeg),
    ("upleg", Part::UpperLeg),
    ("thigh", Part::UpperLeg),
    ("hip", Part::SideHip),
    ("leg", Part::LegPiece),
    ("lowerleg", Part::LowerLeg),
    ("leglower", Part::LowerLeg),
    ("calf", Part::LowerLeg),
    ("shin", Part::LowerLeg),
    ("knee", Part::LowerLeg),
    ("foot", Part::Foot),
    ("ankle", Part::Foot),
    ("toe", Part::Toes),
    ("toes", Part::Toes),
    ("toebase", Part::Toes),
    ("ball", Part::Toes),
];

/// Finger names, alone or with one of the words for hand and finger before or after.
const FINGERS: &[(&str, Finger)] = &[
    ("thumb", Finger::Thumb),
    ("index", Finger::Index),
    ("point", Finger::Index),
    ("middle", Finger::Middle),
    ("mid", Finger::Middle),
    ("ring", Finger::Ring),
    ("little", Finger::Little),
    ("pinky", Finger::Little),
    ("pinkie", Finger::Little),
];
const FINGER_WORDS: &[&str] = &["hand", "finger", "f"];

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
        if NUMBERED_NOISE.contains(&&*word.text) {
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
    copy: Option<Copy>,
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
        if OTHERS.contains(&text) {
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
        } else if !NOISE.contains(&text) {
            self.key.push_str(text);
        } else if self.key.is_empty() {
            match text {
                "def" => self.copy = Some(Copy::Deform),
                "org" => self.copy = Some(Copy::Original),
                _ => {}
            }
        }
        Some(())
    }

    fn finish(self) -> Option<Named> {
        let digits = self.number.as_deref();
        let number = digits.map_or(-1, |digits| digits.parse().unwrap_or(i32::MAX));
        let copy = self.copy.unwrap_or(Copy::Plain);
        let side = self.side;
        let table = if side.is_some() { SIDED } else { MIDDLE };
        let known = table.iter().find(|(key, _)| *key == self.key);
        if let (Some((_, part)), None) = (known, self.phalanx) {
            return Some(Named {
                part: *part,
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
            part: Part::Finger(finger),
            side,
            number,
            copy,
        })
    }
}

fn finger(key: &str) -> Option<Finger> {
    let bare = |key: &str| FINGERS.iter().find(|(name, _)| *name == key).map(|f| f.1);
    let around = FINGER_WORDS
        .iter()
        .flat_map(|word| [key.strip_prefix(word), key.strip_suffix(word)]);
    bare(key).or_else(|| around.flatten().find_map(bare))
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
