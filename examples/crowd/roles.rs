//! Assigns roles to a model's clips by their names, and builds a state machine from them.

use throng::Id;
use throng::character::{AnimationDesc, Character, ClipDesc, Gait};
use throng::clip::Clip;
use throng::error::Escaped;
use throng::state_machine::{
    Interruption, LayerDesc, MaskBranchDesc, MaskDesc, Origin, ParameterDesc, ParameterKind,
    StateDesc, StateMachineDesc, TransitionDesc,
};

use super::Result;

/// Name of the mask for the wave.
pub(crate) const UPPER_BODY: &str = "upper body";
/// The layer of the wave. The state machine plays on the layer below.
pub(crate) const WAVE_LAYER: u8 = 1;
/// Parameter: speed in the model's units per second. 0 means standing.
pub(crate) const SPEED: &str = "speed";
/// Parameter: playback speed, seconds of the clip per second.
pub(crate) const PACE: &str = "pace";

/// Words in the names of clips, the most likely first.
const STAND: [&str; 3] = ["idle", "stand", "survey"];
const WALK: [&str; 1] = ["walk"];
const RUN: [&str; 2] = ["run", "jog"];
const WAVE: [&str; 4] = ["wave", "waving", "cheer", "greet"];
/// Clips with these words in their names have other purposes.
const OTHERS: [&str; 13] = [
    "back", "strafe", "left", "right", "jump", "lie", "sit", "crouch", "ranged", "melee", "attack",
    "death", "pose",
];
/// Words in the name of the joint where the upper body begins.
const SPINE: [&str; 3] = ["spine", "chest", "torso"];

/// Assumed walking speed if the gait cannot be measured, in body heights per second.
const WALKS: f32 = 0.45;
const RUNS: f32 = 1.5;

/// Durations of fades in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fades {
    /// Between standing and walking, and between standing and running.
    pub(crate) walk_s: f32,
    pub(crate) run_s: f32,
    /// Into and out of the wave.
    pub(crate) wave_s: f32,
}

impl Default for Fades {
    fn default() -> Self {
        Self {
            walk_s: 0.45,
            run_s: 0.7,
            wave_s: 0.4,
        }
    }
}

/// The clips by role.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roles {
    pub(crate) stand: Option<Id<Clip>>,
    pub(crate) walk: Option<Id<Clip>>,
    pub(crate) run: Option<Id<Clip>>,
    pub(crate) wave: Option<Id<Clip>>,
    /// The fallback: the first clip that moves, if it has no gait.
    pub(crate) first: Option<Id<Clip>>,
    /// The joint where the wave's mask begins. `None` means that the wave moves the whole body.
    upper: Option<String>,
    /// Assumed gaits of walking clips, if none could be measured.
    guessed: Vec<(Id<Clip>, Gait)>,
}

impl Roles {
    pub(crate) fn new(character: &Character) -> Self {
        let goes = |clip: Id<Clip>| character.gait(clip).is_some();
        let mut roles = Self {
            stand: find(character, &STAND, |clip| !goes(clip)),
            walk: find(character, &WALK, |_| true),
            run: find(character, &RUN, |_| true),
            wave: find(character, &WAVE, |clip| !goes(clip)),
            ..Self::default()
        };
        if roles.stand.is_none() && roles.walk.is_none() && roles.run.is_none() {
            let first = character.default_clip();
            let first = first.filter(|clip| duration_s(character, *clip) > 0.0);
            (roles.walk, roles.first) = match first {
                Some(clip) if goes(clip) => (first, None),
                _ => (None, first),
            };
        }
        let size = character.rest_bounds().size().y;
        for (clip, speed) in [(roles.walk, WALKS), (roles.run, RUNS)] {
            let gait = Gait {
                speed_m_s: speed * size,
                heading_rad: 0.0,
            };
            let unknown = clip.filter(|clip| !goes(*clip));
            roles.guessed.extend(unknown.map(|clip| (clip, gait)));
        }
        let joints = character.skeleton().joints().iter();
        let names = joints.map(|joint| &*joint.name);
        let is_spine = |name: &&str| contains(name, &SPINE);
        roles.upper = names.map(String::from).find(|name| is_spine(&&**name));
        roles
    }

    /// Returns true if a state machine drives the people.
    ///
    /// This is the case if walking people can stand still, or standing people can walk.
    pub(crate) fn has_machine(&self) -> bool {
        self.stand.is_some()
    }

    /// Returns true if a wave leaves the legs alone.
    pub(crate) fn waves_above(&self) -> bool {
        self.upper.is_some()
    }

    /// The character with its state machine and mask, if it needs them.
    pub(crate) fn apply(&self, character: Character, fades: Fades) -> Result<Character> {
        let clips = self.guessed.iter().map(|(clip, gait)| ClipDesc {
            name: character.clips()[clip.index()].name().into(),
            gait: Some(*gait),
            ..ClipDesc::default()
        });
        let clips = clips.collect();
        let masks = self.upper.iter().map(|joint| MaskDesc {
            name: UPPER_BODY.into(),
            branches: vec![MaskBranchDesc {
                joint: joint.clone(),
                weight: 1.0,
                feather: 2,
            }],
        });
        let animation = AnimationDesc {
            masks: masks.collect(),
            clips,
            state_machine: self.machine(&character, fades)?,
            ..AnimationDesc::default()
        };
        match self.has_machine() || !self.guessed.is_empty() {
            true => Ok(character.with_animation(&animation)?),
            false => Ok(character),
        }
    }

    /// A machine that stands at speed 0, walks below a certain speed, and runs above it.
    fn machine(&self, character: &Character, fades: Fades) -> Result<Option<StateMachineDesc>> {
        let Some(stand) = self.stand else {
            return Ok(None);
        };
        let name = |clip: Id<Clip>| character.clips()[clip.index()].name();
        let speed_of = |clip: Option<Id<Clip>>| {
            let guessed = self.guessed.iter().find(|(of, _)| Some(*of) == clip);
            let guessed = guessed.map(|(_, gait)| gait);
            let gait = clip.and_then(|clip| character.gait(clip));
            gait.or(guessed).map(|gait| gait.speed_m_s)
        };
        let between = match (speed_of(self.walk), speed_of(self.run)) {
            (Some(walk), Some(run)) => 0.5 * (walk + run),
            (None, Some(_)) => 0.0,
            _ => f32::MAX,
        };
        let mut body = LayerDesc::new("body", "stand");
        body.states.push(StateDesc::clip("stand", name(stand)));
        if let Some(clip) = self.walk {
            let fits = format!("speed < {between}");
            add_gait(&mut body, ("walk", name(clip)), &fits, fades.walk_s)?;
        }
        if let Some(clip) = self.run {
            let fits = format!("speed >= {between}");
            add_gait(&mut body, ("run", name(clip)), &fits, fades.run_s)?;
        }
        let parameter = |name: &str, default| ParameterDesc {
            name: name.into(),
            kind: ParameterKind::Float {
                default,
                min: Some(0.0),
                max: None,
            },
        };
        Ok(Some(StateMachineDesc {
            parameters: vec![parameter(SPEED, 0.0), parameter(PACE, 1.0)],
            masks: Vec::new(),
            layers: vec![body],
        }))
    }

    /// A description of the chosen clips.
    pub(crate) fn describe(&self, character: &Character) -> String {
        let title =
            |clip: Id<Clip>| format!("\"{}\"", Escaped(character.clips()[clip.index()].name()));
        let goes = |clip: Id<Clip>| {
            let gait = character.gait(clip);
            let speed = gait.map_or(0.0, |gait| gait.speed_m_s);
            let guessed = self.guessed.iter().any(|(of, _)| *of == clip);
            let guessed = if guessed { ", which is a guess" } else { "" };
            format!("{} (at {speed:.2} units a second{guessed})", title(clip))
        };
        let above = self.upper.iter();
        let above: String = above.map(|joint| format!(" from \"{joint}\" up")).collect();
        let parts = [
            self.stand.map(|clip| format!("stands {}", title(clip))),
            self.walk.map(|clip| format!("walks {}", goes(clip))),
            self.run.map(|clip| format!("runs {}", goes(clip))),
            self.can_wave()
                .map(|clip| format!("waves {}{above}", title(clip))),
            self.first.map(|clip| format!("loops {}", title(clip))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => "stands in its rest pose".into(),
            false => parts.join(", "),
        }
    }

    /// The wave, for characters that have a layer for it.
    pub(crate) fn can_wave(&self) -> Option<Id<Clip>> {
        self.wave.filter(|_| self.has_machine())
    }
}

/// Adds a state that walks or runs, with transitions from and to standing.
fn add_gait(
    body: &mut LayerDesc,
    (state, clip): (&str, &str),
    fits: &str,
    fade_s: f32,
) -> Result<()> {
    body.states.push(StateDesc {
        speed_parameter: Some(PACE.into()),
        ..StateDesc::clip(state, clip)
    });
    let fade = |from: &str, to| TransitionDesc {
        fade_s,
        // The way may become free or blocked again before the fade has ended.
        interruption: Interruption::SourceThenTarget,
        ..TransitionDesc::new(Origin::State(from.into()), to)
    };
    body.transitions.push(TransitionDesc {
        when: vec!["speed > 0".parse()?, fits.parse()?],
        ..fade("stand", state)
    });
    body.transitions.push(TransitionDesc {
        when: vec!["speed <= 0".parse()?],
        ..fade(state, "stand")
    });
    Ok(())
}

fn duration_s(character: &Character, clip: Id<Clip>) -> f64 {
    let clip = character.clips().get(clip.index());
    clip.map_or(0.0, |clip| clip.duration_s())
}

fn contains(name: &str, words: &[&str]) -> bool {
    let name = name.to_lowercase();
    words.iter().any(|word| name.contains(word))
}

/// The clip whose name is closest to one of the words.
fn find(
    character: &Character,
    words: &[&str],
    fits: impl Fn(Id<Clip>) -> bool,
) -> Option<Id<Clip>> {
    let clips = (0..).map(Id::new).zip(character.clips());
    let lasting = clips.filter(|(id, clip)| clip.duration_s() > 0.0 && fits(*id));
    let ranked = lasting.filter_map(|(id, clip)| {
        let name = clip.name().to_lowercase();
        let rank = |word: &str| match name.find(word)? {
            0 if name.len() == word.len() => Some(0),
            0 => Some(1),
            _ => Some(2),
        };
        let rank = words.iter().filter_map(|word| rank(word)).min()?;
        (!contains(&name, &OTHERS)).then_some((rank, id))
    });
    ranked.min().map(|(_, id)| id)
}
