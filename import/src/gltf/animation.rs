//! Conversion of animations from channels and samplers to curves.

use super::accessor::Elements;
use super::component::Component;
use super::fault::{cut, lookup, not_allowed};
use super::json::{Animation, AnimationSampler, Document, Target as ChannelTarget};
use super::morph::target_count;
use super::source::Source;
use crate::fault::{check_cap, expect_count};
use std::collections::{BTreeMap, HashSet};
use throng::character::EventDesc;
use throng::clip::Interpolation;
use throng::error::{AssetFault, Error, Object, ObjectKind, Result};
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawAnimation, RawChannel, RawKeys, Repair, RepairKind};

/// Reads all animations, without channels that drive no property of a node.
pub(super) fn read(
    source: &mut Source<'_>,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<RawAnimation>> {
    let doc: &Document = source.doc;
    let mut animations = Vec::with_capacity(doc.animations.len());
    let (mut keys, mut events) = (0, 0);
    for (index, animation) in doc.animations.iter().enumerate() {
        check_samplers(doc, index, &animation.samplers)?;
        let mut raw = RawAnimation {
            name: animation.name.as_deref().unwrap_or_default().into(),
            channels: Vec::with_capacity(animation.channels.len()),
            events: animation.extras.0.clone(),
        };
        check_events(index, &raw.events, &mut events, source.options)?;
        let (mut left_out, mut of_matrix) = (BTreeMap::new(), 0);
        let mut driven = HashSet::new();
        for number in 0..animation.channels.len() {
            match target(doc, index, number, &mut driven)? {
                Err(why) => *left_out.entry(why).or_insert(0) += 1,
                Ok(target) => {
                    let has_matrix = doc.nodes[target.node].matrix.is_some();
                    of_matrix += u64::from(has_matrix && target.path != "weights");
                    let channel = curve(source, animation, &target, &mut keys)?;
                    raw.channels.push(channel);
                }
            }
        }
        let empty = u64::from(animation.channels.is_empty());
        let mut tell = |part: &str, kind, count| {
            let object = Object::new(ObjectKind::Animation, index, part);
            Repair::note(repairs, &object, kind, count);
        };
        tell("", RepairKind::NoChannels, empty);
        for (part, count) in left_out {
            tell(&part, RepairKind::LeftOut, count);
        }
        tell("", RepairKind::MatrixAnimated, of_matrix);
        animations.push(raw);
    }
    Ok(animations)
}

/// Counts events. There may be as many as keys.
fn check_events(
    index: usize,
    events: &[EventDesc],
    all: &mut u64,
    options: &ImportOptions,
) -> Result<()> {
    *all += events.len() as u64;
    let at = || Object::new(ObjectKind::Animation, index, "extras.events");
    check_cap(at, "events", *all, options.limits.keys as u64)
}

/// The target of a channel, and its sampler.
struct Target<'a> {
    node: usize,
    path: &'a str,
    /// The number of morph targets of the node.
    targets: usize,
    sampler: Sampler,
}

/// The checked target of a channel, or a description of channels that are not read.
///
/// These name no node, or a property that no node of a character has.
fn target<'a>(
    doc: &'a Document,
    index: usize,
    number: usize,
    driven: &mut HashSet<(usize, &'a str)>,
) -> Result<core::result::Result<Target<'a>, Box<str>>> {
    let animation = &doc.animations[index];
    let channel = &animation.channels[number];
    let at = |part: &str| {
        let part = format!("channels[{number}].{part}");
        Object::new(ObjectKind::Animation, index, part)
    };
    let samplers = &animation.samplers;
    let (sampler, _) = lookup(samplers, channel.sampler, "sampler", || at("sampler"))?;
    let (node, path) = match node_property(doc, &channel.target) {
        Ok(property) => property,
        Err(why) => return Ok(Err(why)),
    };
    let (node, _) = lookup(&doc.nodes, node, "node", || at("target.node"))?;
    if !PATHS.contains(&path) {
        return Ok(Err("channels of other paths".into()));
    }
    if !driven.insert((node, path)) {
        let why = AssetFault::Invalid("is already driven by another channel");
        return Err(Error::asset(at("target"), why));
    }
    let targets = target_count(doc, &doc.nodes[node]);
    if path == "weights" && targets == 0 {
        let why = AssetFault::Invalid("drives the weights of a node without morph targets");
        return Err(Error::asset(at("target"), why));
    }
    Ok(Ok(Target {
        node,
        path,
        targets,
        sampler: Sampler { index, sampler },
    }))
}

/// The properties of nodes that channels drive.
const PATHS: [&str; 4] = ["translation", "rotation", "scale", "weights"];

/// The node and the path that a channel drives, or a description of channels that drive none.
fn node_property<'a>(
    doc: &Document,
    target: &'a ChannelTarget,
) -> core::result::Result<(u64, &'a str), Box<str>> {
    let extensions = target.extensions.as_ref();
    if let Some(pointer) = extensions.and_then(|all| all.pointer.as_ref()) {
        let property = pointed_property(&pointer.pointer);
        let property = property.filter(|(node, _)| *node < doc.nodes.len() as u64);
        return property.ok_or_else(|| pointer_pattern(&pointer.pointer));
    }
    let node = target.node.ok_or("channels without a node")?;
    Ok((node, &target.path))
}

/// The node and the path in a pointer such as `/nodes/3/rotation`.
fn pointed_property(pointer: &str) -> Option<(u64, &str)> {
    let (node, path) = pointer.strip_prefix("/nodes/")?.split_once('/')?;
    let is_index = node.bytes().all(|byte| byte.is_ascii_digit());
    let node = node.parse().ok().filter(|_| is_index)?;
    PATHS.contains(&path).then_some((node, path))
}

/// A description of the channels with a pointer. `{}` replaces its indices.
fn pointer_pattern(pointer: &str) -> Box<str> {
    let is_index = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let parts = pointer.split('/');
    let parts = parts.map(|part| if is_index(part) { "{}" } else { part });
    let pattern: Vec<&str> = parts.collect();
    cut(&format!("channels of {}", pattern.join("/")))
}

fn check_samplers(doc: &Document, index: usize, samplers: &[AnimationSampler]) -> Result<()> {
    for (number, sampler) in samplers.iter().enumerate() {
        for (part, accessor) in [("input", sampler.input), ("output", sampler.output)] {
            let part = || format!("samplers[{number}].{part}");
            let referrer = || Object::new(ObjectKind::Animation, index, part());
            lookup(&doc.accessors, accessor, "accessor", referrer)?;
        }
    }
    Ok(())
}

/// The location of an animation's sampler.
struct Sampler {
    index: usize,
    sampler: usize,
}

impl Sampler {
    fn object(&self, part: &str) -> Object {
        let part = format!("samplers[{}].{part}", self.sampler);
        Object::new(ObjectKind::Animation, self.index, part)
    }
}

fn curve(
    source: &mut Source<'_>,
    animation: &Animation,
    target: &Target<'_>,
    keys: &mut u64,
) -> Result<RawChannel> {
    let at = &target.sampler;
    let sampler = &animation.samplers[at.sampler];
    let interpolation = match sampler.interpolation.as_deref() {
        None | Some("LINEAR") => Interpolation::Linear,
        Some("STEP") => Interpolation::Step,
        Some("CUBICSPLINE") => Interpolation::CubicSpline,
        Some(other) => {
            let why = not_allowed("the interpolation", other, "LINEAR, STEP, CUBICSPLINE");
            return Err(Error::asset(at.object("interpolation"), why));
        }
    };
    let times_s = times(source, at, sampler.input, keys)?;
    let width = match target.path {
        "weights" => target.targets as u64,
        _ => 1,
    };
    let values_per_key = match interpolation {
        Interpolation::CubicSpline => 3,
        Interpolation::Step | Interpolation::Linear => 1,
    };
    let count = times_s.len() * values_per_key;
    let need = (count as u64).saturating_mul(width);
    let mut output = |kind| values(source, at, sampler.output, kind, need);
    let values = match target.path {
        "rotation" => RawKeys::Rotation(output("VEC4")?.all(Quat::from_array)),
        "scale" => RawKeys::Scale(output("VEC3")?.all(Vec3::from_array)),
        "weights" => RawKeys::Weights(output("SCALAR")?.all(|[weight]| weight)),
        _ => RawKeys::Translation(output("VEC3")?.all(Vec3::from_array)),
    };
    Ok(RawChannel {
        node: target.node,
        times_s,
        interpolation,
        values,
    })
}

fn times(source: &mut Source<'_>, at: &Sampler, input: u64, keys: &mut u64) -> Result<Vec<f32>> {
    let float = |component, _| component == Component::F32;
    let object = || at.object("input");
    let (index, accessor) = source.typed(input, "SCALAR", "5126", float, object)?;
    *keys = keys.saturating_add(accessor.count);
    check_cap(object, "keys", *keys, source.options.limits.keys as u64)?;
    let elements = source.elements(index, usize::MAX, size_of::<f32>())?;
    let times_s = elements.all(|[time_s]| time_s);
    match AssetFault::of_key_times(&times_s) {
        None => Ok(times_s),
        Some(why) => Err(Error::asset(object(), why)),
    }
}

fn values<'a>(
    source: &mut Source<'a>,
    at: &Sampler,
    output: u64,
    kind: &'static str,
    need: u64,
) -> Result<Elements<'a>> {
    let object = || at.object("output");
    let integers = kind != "VEC3";
    let allow = |component, normalized| match component {
        Component::F32 => true,
        Component::U32 => false,
        _ => integers && normalized,
    };
    let allowed = if integers {
        "5126, or normalised 5120 to 5123"
    } else {
        "5126"
    };
    let (index, accessor) = source.typed(output, kind, allowed, allow, object)?;
    expect_count(object, "the accessor", accessor.count, need)?;
    source.elements(index, usize::MAX, size_of::<Quat>())
}
