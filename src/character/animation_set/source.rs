//! A description with the files it refers to, and with line numbers for errors.

use super::desc::AnimationDesc;
use super::text::part_of;
#[cfg(feature = "toml")]
use super::toml::AnimationText;
use crate::error::{DescFault, Error, Result};
use crate::motion::BlendSpace;
use crate::skeleton::Skeleton;
#[cfg(feature = "toml")]
use crate::state_machine::StateMachineText;
use crate::state_machine::{MaskDesc, StateMachine, StateMachineClip, StateMachineDesc};
#[cfg(feature = "toml")]
use crate::text::path_text;
use crate::text::{At, Fault};

/// Reads a file beside the model.
pub(crate) type ReadFile<'r> = &'r mut dyn FnMut(&str) -> Result<Vec<u8>>;

/// A description with the files it refers to, and with line numbers for errors.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnimationSource {
    desc: AnimationDesc,
    #[cfg(feature = "toml")]
    text: Option<AnimationText>,
    #[cfg(feature = "toml")]
    machine: Option<StateMachineText>,
}

impl AnimationSource {
    /// Creates the source from plain data. `read` reads the file that the data may name.
    pub(crate) fn of_desc(desc: &AnimationDesc, read: Option<ReadFile<'_>>) -> Result<Self> {
        let source = Self {
            desc: desc.clone(),
            #[cfg(feature = "toml")]
            text: None,
            #[cfg(feature = "toml")]
            machine: None,
        };
        source.with_machine_file(read)
    }

    /// Creates the source from the text beside a model. `read` reads the file that it may name.
    #[cfg(feature = "toml")]
    pub(crate) fn of_bytes(file: &str, bytes: &[u8], read: Option<ReadFile<'_>>) -> Result<Self> {
        let text = AnimationText::decode(file, bytes)?;
        let source = Self {
            desc: text.desc.clone(),
            text: Some(text),
            machine: None,
        };
        source.with_machine_file(read)
    }

    /// The error of a build that reads no text.
    #[cfg(not(feature = "toml"))]
    pub(crate) fn of_bytes(_: &str, _: &[u8], _: Option<ReadFile<'_>>) -> Result<Self> {
        Err(Error::invalid("sidecar", "needs the feature toml"))
    }

    #[cfg(not(feature = "toml"))]
    fn with_machine_file(self, _: Option<ReadFile<'_>>) -> Result<Self> {
        match self.desc.state_machine_file {
            None => Ok(self),
            Some(_) => Err(self.wrong_file(DescFault::Invalid("needs the feature toml"))),
        }
    }

    #[cfg(feature = "toml")]
    fn with_machine_file(mut self, read: Option<ReadFile<'_>>) -> Result<Self> {
        let Some(path) = &self.desc.state_machine_file else {
            return Ok(self);
        };
        if self.desc.state_machine.is_some() {
            let why = "names a file, but the description also contains a state machine";
            return Err(self.wrong_file(DescFault::Invalid(why)));
        }
        let Some(read) = read else {
            let why = "names a file, but only an import with access to files can read it";
            return Err(self.wrong_file(DescFault::Invalid(why)));
        };
        if let Err(why) = stays_below(path) {
            return Err(self.wrong_file(DescFault::Invalid(why)));
        }
        let bytes = read(path);
        let bytes = bytes.map_err(|why| self.wrong_file(DescFault::Refused(Box::new(why))))?;
        let Ok(text) = core::str::from_utf8(&bytes) else {
            return Err(self.wrong_file(DescFault::Invalid("the file is not UTF-8")));
        };
        self.machine = Some(StateMachineText::of(path, text)?);
        Ok(self)
    }

    fn wrong_file(&self, why: DescFault) -> Error {
        self.error(Fault::new(At::WHOLE, "state_machine_file", why))
    }

    /// The number of clips that the description adds to those of the file.
    pub(crate) fn made_clips(&self) -> usize {
        let made = self.desc.additive.iter();
        made.filter(|clip| clip.name.is_some()).count()
    }

    pub(crate) fn desc(&self) -> &AnimationDesc {
        &self.desc
    }

    /// The error with the part's name, and the file and line if there is text.
    pub(crate) fn error(&self, fault: Fault) -> Error {
        #[cfg(feature = "toml")]
        let (file, line) = self.text.as_ref().map_or_else(Default::default, |text| {
            (
                text.file.clone(),
                text.line(&path_text(&fault.at.path()), &fault.field),
            )
        });
        #[cfg(not(feature = "toml"))]
        let (file, line) = Default::default();
        fault.into_error(&self.desc, part_of, (file, line))
    }

    /// The state machine and its description. Its masks are its own, then those of the whole
    /// description that its layers name.
    pub(crate) fn machine(
        &self,
        skeleton: &Skeleton,
        clips: &[StateMachineClip<'_>],
        spaces: &[BlendSpace],
    ) -> Result<Option<(StateMachine, StateMachineDesc)>> {
        #[cfg(feature = "toml")]
        {
            let inline = || {
                let machine = self.desc.state_machine.as_ref()?;
                Some(self.text.as_ref()?.machine(machine))
            };
            if let Some(mut text) = self.machine.clone().or_else(inline) {
                let desc = text.desc.clone();
                text.add_masks(self.masks_for(&desc));
                let machine = text.build(skeleton, clips, spaces)?;
                return Ok(Some((machine, desc)));
            }
        }
        let Some(desc) = &self.desc.state_machine else {
            return Ok(None);
        };
        let mut whole = desc.clone();
        whole.masks.extend(self.masks_for(desc));
        let machine = StateMachine::new(&whole, skeleton, clips, spaces)?;
        Ok(Some((machine, desc.clone())))
    }

    /// The masks that the layers of a state machine name and that only the description has.
    fn masks_for(&self, machine: &StateMachineDesc) -> Vec<MaskDesc> {
        let is_used = |mask: &&MaskDesc| {
            let mut layers = machine.layers.iter();
            layers.any(|layer| layer.mask.as_ref() == Some(&mask.name))
                && machine.masks.iter().all(|own| own.name != mask.name)
        };
        self.desc.masks.iter().filter(is_used).cloned().collect()
    }
}

/// Checks that a path is relative and stays inside its folder.
#[cfg(feature = "toml")]
fn stays_below(path: &str) -> Result<(), &'static str> {
    if path.is_empty() {
        return Err("is empty");
    }
    if path.chars().any(char::is_control) {
        return Err("has control characters");
    }
    if path.contains(['\\', ':']) || path.starts_with('/') {
        return Err("is not a relative path with / between folders");
    }
    if path.split('/').any(|part| part == "..") {
        return Err("leads out of the folder");
    }
    Ok(())
}
