//! Takes: ufbx evaluates their curves, with layers, limits and pre-rotations, to local transforms.

use super::convert::{quat, vec3};
use super::fault::{check_cap, failed};
use super::keys::{Curve, Key, Range};
use super::morph::{ChannelWeights, DrivenWeights, effective_weights};
use super::nodes::Nodes;
use crate::clip::Interpolation;
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::fault::{cut, fault, object};
use crate::import::options::ImportOptions;
use crate::import::repair::{Repair, RepairKind, note};
use crate::import::{RawAnimation, RawChannel, RawKeys};
use glam::{Quat, Vec3};
use std::collections::HashMap;
use ufbx::{AllocatorOpts, BakeOpts, BakeStepHandling, ExtrapolationMode};

/// The least rate at which curves that are not linear are sampled, per second.
const LEAST_RATE: f64 = 60.0;
/// The largest frame rate of a file that the sampling follows, per second.
const MOST_RATE: f64 = 240.0;

/// The property of a blend channel with its weight, in percent.
const DEFORM_PERCENT: &str = "DeformPercent";
/// The most samples between two keys. Memory is limited by [`allocator`].
const MOST_SEGMENTS: usize = 4096;

/// Reads all takes.
pub(super) fn read(
    scene: &ufbx::Scene,
    nodes: &Nodes,
    morphs: &[DrivenWeights],
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<RawAnimation>> {
    check_key_times(scene)?;
    let mut keys = 0;
    let extends = scene.anim_curves.iter().any(|curve| {
        let both = [&curve.pre_extrapolation, &curve.post_extrapolation];
        both.iter()
            .any(|side| side.mode != ExtrapolationMode::Constant)
    });
    let mut animations = Vec::with_capacity(scene.anim_stacks.len());
    for (index, stack) in scene.anim_stacks.iter().enumerate() {
        let baked = ufbx::bake_anim(scene, &stack.anim, bake_options(scene, options))
            .map_err(|error| failed(&error, options.max_decoded_bytes))?;
        let take = Take {
            anim: &stack.anim,
            range: range(&baked),
            extends,
            rate: sampling_rate(scene.settings.frames_per_second),
        };
        if extends {
            let at = || object(ObjectKind::Animation, index, "");
            let curves = baked.nodes.len() * 3 + baked.elements.len();
            let samples = (take.range.end_s - take.range.begin_s).max(0.0) * take.rate;
            let asked = (samples * curves as f64) as u64;
            check_cap(at, "samples", asked, options.max_keys as u64)?;
        }
        let mut raw = RawAnimation {
            name: cut(&stack.element.name),
            ..RawAnimation::default()
        };
        take.transforms(scene, &baked, nodes, &mut raw.channels);
        take.weights(scene, &baked, morphs, &mut raw.channels);
        for channel in &raw.channels {
            keys += channel.times_s.len() as u64;
        }
        let at = || object(ObjectKind::Animation, index, "");
        check_cap(at, "keys", keys, options.max_keys as u64)?;
        let empty = u64::from(raw.channels.is_empty());
        note(repairs, &at(), RepairKind::NoChannels, empty);
        animations.push(raw);
    }
    Ok(animations)
}

/// Refuses keys at times that are not finite, with which ufbx would not come to an end.
fn check_key_times(scene: &ufbx::Scene) -> Result<()> {
    for (index, curve) in scene.anim_curves.iter().enumerate() {
        for (key, frame) in curve.keyframes.iter().enumerate() {
            if !frame.time.is_finite() {
                let why = AssetFault::Value {
                    what: "the time of key",
                    index: key as u64,
                    value: frame.time,
                    allowed: "finite",
                };
                return Err(fault(ObjectKind::File, None, format!("curve {index}"), why));
            }
        }
    }
    Ok(())
}

fn bake_options(scene: &ufbx::Scene, options: &ImportOptions) -> BakeOpts {
    let rate = sampling_rate(scene.settings.frames_per_second);
    BakeOpts {
        temp_allocator: allocator(options),
        result_allocator: allocator(options),
        resample_rate: rate,
        // Curves that have keys at this rate are taken as they are. The factor is for rounding.
        minimum_sample_rate: rate * 0.99,
        max_keyframe_segments: MOST_SEGMENTS,
        step_handling: BakeStepHandling::IdenticalTime,
        key_reduction_enabled: true,
        key_reduction_rotation: true,
        ..BakeOpts::default()
    }
}

/// The limits of what ufbx allocates.
pub(super) fn allocator(options: &ImportOptions) -> AllocatorOpts {
    AllocatorOpts {
        memory_limit: usize::try_from(options.max_decoded_bytes).unwrap_or(usize::MAX),
        // Most allocations are large blocks. 0 would mean that there is no limit.
        allocation_limit: 1 << 20,
        ..AllocatorOpts::default()
    }
}

/// The smallest multiple of the file's frame rate that is at least [`LEAST_RATE`].
fn sampling_rate(frames_per_second: f64) -> f64 {
    if (1.0..=MOST_RATE).contains(&frames_per_second) {
        frames_per_second * (LEAST_RATE / frames_per_second).ceil()
    } else {
        LEAST_RATE
    }
}

/// The take's own range, or that of its keys if it has none.
fn range(baked: &ufbx::BakedAnim) -> Range {
    let own = Range {
        begin_s: baked.playback_time_begin,
        end_s: baked.playback_time_end,
    };
    let keys = Range {
        begin_s: baked.key_time_min,
        end_s: baked.key_time_max,
    };
    let meets = own.begin_s <= keys.end_s && keys.begin_s <= own.end_s;
    let is_usable = own.end_s > own.begin_s && meets;
    if is_usable { own } else { keys }
}

/// A take that is read.
struct Take<'a> {
    anim: &'a ufbx::Anim,
    range: Range,
    /// True if some curves of the file do not stay constant before their first or after their last
    /// key. ufbx samples only between keys.
    extends: bool,
    /// Samples per second.
    rate: f64,
}

impl Take<'_> {
    /// Adds samples to a curve, if some do not stay constant outside their keys.
    fn extend<V: Copy>(&self, keys: &mut Vec<Key<V>>, at: impl Fn(f64) -> V) {
        if !self.extends || keys.is_empty() {
            return;
        }
        let Range { begin_s, end_s } = self.range;
        let count = ((end_s - begin_s) * self.rate).ceil().max(0.0) as u64;
        let times = (0..=count).map(|step| begin_s + step as f64 / self.rate);
        let samples: Vec<Key<V>> = times
            .filter(|time| keys.binary_search_by(|key| key.0.total_cmp(time)).is_err())
            .map(|time| (time, at(time)))
            .collect();
        keys.extend(samples);
        // Stable, so both keys of a step keep their order.
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));
    }

    fn transforms(
        &self,
        scene: &ufbx::Scene,
        baked: &ufbx::BakedAnim,
        nodes: &Nodes,
        all: &mut Vec<RawChannel>,
    ) {
        for node in &baked.nodes {
            let source = scene.nodes.get(node.typed_id as usize);
            let (Some(number), Some(source)) = (nodes.of_typed_id(node.typed_id), source) else {
                continue;
            };
            let at = |time: f64| ufbx::evaluate_transform(self.anim, source, time);
            let mut add = |curve: Option<(Vec<f32>, RawKeys)>| {
                all.extend(curve.map(|(times_s, values)| RawChannel {
                    node: number,
                    times_s,
                    interpolation: Interpolation::Linear,
                    values,
                }));
            };
            let translation = self.vectors(&node.translation_keys, |time| at(time).translation);
            add(translation.map(|curve| (curve.times_s, RawKeys::Translation(curve.values))));
            let rotation = self.rotations(&node.rotation_keys, |time| at(time).rotation);
            add(rotation.map(|curve| (curve.times_s, RawKeys::Rotation(curve.values))));
            let scale = self.vectors(&node.scale_keys, |time| at(time).scale);
            add(scale.map(|curve| (curve.times_s, RawKeys::Scale(curve.values))));
        }
    }

    fn vectors(
        &self,
        keys: &[ufbx::BakedVec3],
        at: impl Fn(f64) -> ufbx::Vec3,
    ) -> Option<Curve<Vec3>> {
        let mut keys: Vec<Key<Vec3>> = keys.iter().map(|key| (key.time, vec3(key.value))).collect();
        self.extend(&mut keys, |time| vec3(at(time)));
        Curve::new(&keys, self.range, |a, b, t| a.lerp(b, t as f32))
    }

    fn rotations(
        &self,
        keys: &[ufbx::BakedQuat],
        at: impl Fn(f64) -> ufbx::Quat,
    ) -> Option<Curve<Quat>> {
        let mut keys: Vec<Key<Quat>> = keys.iter().map(|key| (key.time, quat(key.value))).collect();
        self.extend(&mut keys, |time| quat(at(time)));
        for at in 1..keys.len() {
            if keys[at].1.dot(keys[at - 1].1) < 0.0 {
                keys[at].1 = -keys[at].1;
            }
        }
        Curve::new(&keys, self.range, |a, b, t| a.slerp(b, t as f32))
    }

    /// The curves of blend channels, by element. Their values are 1 for 100 %.
    ///
    /// Before version 7, the curve is that of a property of the mesh, with the channel's name.
    /// ufbx connects that property to the channel.
    fn blend_curves(
        &self,
        scene: &ufbx::Scene,
        baked: &ufbx::BakedAnim,
    ) -> HashMap<u32, Curve<f64>> {
        let mut sources: HashMap<(u32, &str), Vec<&ufbx::BlendChannel>> = HashMap::new();
        for channel in &scene.blend_channels {
            let own = (channel.element.element_id, DEFORM_PERCENT);
            let connected = channel.element.connections_dst.iter();
            let connected = connected
                .filter(|connection| &*connection.dst_prop == DEFORM_PERCENT)
                .map(|connection| (connection.src.element_id, &*connection.src_prop));
            for source in connected.chain([own]) {
                sources.entry(source).or_default().push(channel);
            }
        }
        let mut curves = HashMap::new();
        for element in &baked.elements {
            for prop in &element.props {
                let driven = sources.get(&(element.element_id, &*prop.name));
                for channel in driven.into_iter().flatten() {
                    let key = |key: &ufbx::BakedVec3| (key.time, key.value.x / 100.0);
                    let mut keys: Vec<Key<f64>> = prop.keys.iter().map(key).collect();
                    let weight = |time| ufbx::evaluate_blend_weight(self.anim, channel, time);
                    self.extend(&mut keys, weight);
                    let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
                    if let Some(curve) = Curve::new(&keys, self.range, mix) {
                        curves.insert(channel.element.element_id, curve);
                    }
                }
            }
        }
        curves
    }

    /// Reads the weights of blend shapes.
    fn weights(
        &self,
        scene: &ufbx::Scene,
        baked: &ufbx::BakedAnim,
        morphs: &[DrivenWeights],
        all: &mut Vec<RawChannel>,
    ) {
        let curves = self.blend_curves(scene, baked);
        for morph in morphs {
            let driven: Vec<Driven<'_>> = morph
                .channels
                .iter()
                .filter_map(|weights| driven(scene, weights, curves.get(&weights.element_id)))
                .collect();
            if driven.iter().all(|driven| driven.curve.is_none()) {
                continue;
            }
            let times_s = times(&driven);
            let mut values = vec![0.0; times_s.len() * morph.count];
            for channel in &driven {
                for (key, time) in times_s.iter().enumerate() {
                    let first = key * morph.count + channel.first;
                    let shapes = first..first + channel.channel.keyframes.len();
                    let weight = channel.weight(*time);
                    effective_weights(channel.channel, weight, &mut values[shapes]);
                }
            }
            all.push(RawChannel {
                node: morph.node,
                times_s,
                interpolation: Interpolation::Linear,
                values: RawKeys::Weights(values),
            });
        }
    }
}

/// A blend channel in a take.
struct Driven<'a> {
    channel: &'a ufbx::BlendChannel,
    /// The index of its first weight.
    first: usize,
    /// Its weight over time. `None`: it stays at rest.
    curve: Option<&'a Curve<f64>>,
}

fn driven<'a>(
    scene: &'a ufbx::Scene,
    weights: &ChannelWeights,
    curve: Option<&'a Curve<f64>>,
) -> Option<Driven<'a>> {
    let element = scene.elements.get(weights.element_id as usize)?;
    let channel = scene.blend_channels.get(element.typed_id as usize)?;
    (channel.element.element_id == weights.element_id).then_some(Driven {
        channel,
        first: weights.first,
        curve,
    })
}

impl Driven<'_> {
    fn weight(&self, time_s: f32) -> f64 {
        let Some(curve) = self.curve else {
            return self.channel.weight;
        };
        let after = curve.times_s.partition_point(|time| *time <= time_s);
        let Some(before) = after.checked_sub(1) else {
            return curve.values.first().copied().unwrap_or_default();
        };
        let Some(end) = curve.times_s.get(after) else {
            return curve.values[before];
        };
        let (start, end) = (f64::from(curve.times_s[before]), f64::from(*end));
        let t = (f64::from(time_s) - start) / (end - start);
        curve.values[before] + (curve.values[after] - curve.values[before]) * t
    }
}

/// All key times of these channels, and the times at which a channel passes one of its shapes.
fn times(driven: &[Driven<'_>]) -> Vec<f32> {
    let mut times = Vec::new();
    for channel in driven {
        let Some(curve) = channel.curve else {
            continue;
        };
        times.extend_from_slice(&curve.times_s);
        let shapes = &channel.channel.keyframes;
        if shapes.len() < 2 {
            continue;
        }
        for at in 1..curve.times_s.len() {
            let (a, b) = (curve.values[at - 1], curve.values[at]);
            let (start, end) = (curve.times_s[at - 1], curve.times_s[at]);
            let passed = shapes.iter().map(|shape| shape.target_weight).chain([0.0]);
            for target in passed.filter(|target| (a < *target) != (b < *target)) {
                let t = (target - a) / (b - a);
                let time = f64::from(start) + f64::from(end - start) * t;
                times.push((time as f32).clamp(start, end));
            }
        }
    }
    times.retain(|time| time.is_finite());
    times.sort_by(f32::total_cmp);
    times.dedup();
    times
}
