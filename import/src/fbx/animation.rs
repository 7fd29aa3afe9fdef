//! Takes: ufbx evaluates their curves, with layers, limits and pre-rotations, to local transforms.

use super::convert::{failed, quat, vec3};
use super::keys::{Curve, Key, Range};
use super::morph::{Channel, DrivenWeights, effective_weights};
use super::nodes::Nodes;
use crate::budget::Budget;
use crate::fault::{check_cap, cut, fault};
use std::collections::HashMap;
use std::rc::Rc;
use throng::clip::Interpolation;
use throng::error::{AssetFault, Object, ObjectKind, Result};
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawAnimation, RawChannel, RawKeys, Repair, RepairKind};
use ufbx::{AllocatorOpts, BakeOpts, BakeStepHandling, ExtrapolationMode};

/// The least rate at which curves that are not linear are sampled, per second.
const LEAST_RATE: f64 = 60.0;
/// The largest frame rate of a file that the sampling follows, per second.
const MOST_RATE: f64 = 240.0;
/// The least rate of keys that are taken as they are, per second: that of film, less what rounding
/// and rates such as 23.976 take.
///
/// Most exporters write a key for each frame. Samples between these add nothing.
const KEPT_RATE: f64 = 23.5;

/// The property of a blend channel with its weight, in percent.
const DEFORM_PERCENT: &str = "DeformPercent";
/// The most samples between two keys. Memory is limited by [`allocator`].
const MOST_SEGMENTS: usize = 4096;

pub(super) fn read(
    scene: &ufbx::Scene,
    nodes: &Nodes,
    morphs: &[DrivenWeights<'_>],
    budget: &mut Budget<'_>,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<RawAnimation>> {
    check_key_times(scene)?;
    let options = budget.options;
    let weights = WeightProps::new(scene);
    let mut animations = Vec::with_capacity(scene.anim_stacks.len());
    for (index, stack) in scene.anim_stacks.iter().enumerate() {
        let baked = ufbx::bake_anim(scene, &stack.anim, bake_options(scene, options))
            .map_err(|error| failed(&error, options.limits.decoded_bytes))?;
        let mut take = Take {
            index,
            anim: &stack.anim,
            range: range(&baked),
            inside: extrapolated(stack),
            rate: sampling_rate(scene.settings.frames_per_second),
            budget,
        };
        let mut raw = RawAnimation {
            name: cut(&stack.element.name),
            ..RawAnimation::default()
        };
        take.transforms(scene, &baked, nodes, &mut raw.channels)?;
        take.weights(&baked, &weights, morphs, &mut raw.channels)?;
        let empty = u64::from(raw.channels.is_empty());
        let at = Object::new(ObjectKind::Animation, index, "");
        Repair::note(repairs, &at, RepairKind::NoChannels, empty);
        animations.push(raw);
    }
    Ok(animations)
}

/// Refuses keys at times that are not finite: ufbx would loop forever.
fn check_key_times(scene: &ufbx::Scene) -> Result<()> {
    for (index, curve) in scene.anim_curves.iter().enumerate() {
        for (key, frame) in curve.keyframes.iter().enumerate() {
            if !frame.time.is_finite() {
                let why = AssetFault::value("the time of key", key, frame.time, "finite");
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
        minimum_sample_rate: KEPT_RATE,
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
        memory_limit: usize::try_from(options.limits.decoded_bytes).unwrap_or(usize::MAX),
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

/// The time between the keys of all curves of a take that do not stay constant before their first
/// or after their last key. `None` if there is no such curve.
///
/// ufbx samples only between keys.
fn extrapolated(stack: &ufbx::AnimStack) -> Option<Range> {
    let values = stack.layers.iter().flat_map(|layer| &layer.anim_values);
    let curves = values.flat_map(|value| value.curves.iter().flatten());
    let ranges = curves.filter_map(|curve| {
        let sides = [&curve.pre_extrapolation, &curve.post_extrapolation];
        let extends = |side: &&ufbx::Extrapolation| side.mode != ExtrapolationMode::Constant;
        let is_extrapolated = sides.iter().any(extends);
        let (first, last) = (curve.keyframes.first()?, curve.keyframes.last()?);
        is_extrapolated.then_some(Range {
            begin_s: first.time,
            end_s: last.time,
        })
    });
    ranges.reduce(|a, b| Range {
        begin_s: a.begin_s.max(b.begin_s),
        end_s: a.end_s.min(b.end_s),
    })
}

struct Take<'a, 'b> {
    index: usize,
    anim: &'a ufbx::Anim,
    range: Range,
    /// [`extrapolated`]
    inside: Option<Range>,
    /// Samples per second.
    rate: f64,
    budget: &'a mut Budget<'b>,
}

impl Take<'_, '_> {
    /// Charges for a curve with values of this size, and adds samples where some curves do not stay
    /// constant outside their keys.
    fn extend<V: Copy>(
        &mut self,
        keys: &mut Vec<Key<V>>,
        at: impl Fn(f64) -> V,
        object: impl FnOnce() -> Object,
    ) -> Result<()> {
        let Range { begin_s, end_s } = self.range;
        let mut spans: [(f64, u64); 2] = [(begin_s, 0); 2];
        if let Some(inside) = self.inside.filter(|_| !keys.is_empty()) {
            let count = |seconds: f64| (seconds * self.rate).ceil().max(0.0) as u64;
            if inside.begin_s < inside.end_s {
                let after = count(end_s - inside.end_s.max(begin_s));
                spans[0].1 = count(inside.begin_s.min(end_s) - begin_s);
                spans[1] = (end_s - after as f64 / self.rate, after);
            } else {
                spans[0].1 = count(end_s - begin_s);
            }
            // The end of the take.
            spans[1].1 += 1;
        }
        let samples = spans.iter().map(|span| span.1);
        let count = samples.fold(keys.len() as u64 + 2, u64::saturating_add);
        let bytes = size_of::<f32>() + size_of::<V>();
        self.budget.keys(count, bytes as u64, &object())?;
        let rate = self.rate;
        let mut added = Vec::new();
        for (start, count) in spans {
            let times = (0..count).map(|step| start + step as f64 / rate);
            let missing = |time: &f64| {
                let is_inside = (begin_s..=end_s).contains(time);
                is_inside && keys.binary_search_by(|key| key.0.total_cmp(time)).is_err()
            };
            added.extend(times.filter(missing).map(|time| (time, at(time))));
        }
        if !added.is_empty() {
            keys.extend(added);
            // Stable, so both keys of a step keep their order.
            keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        Ok(())
    }

    fn transforms(
        &mut self,
        scene: &ufbx::Scene,
        baked: &ufbx::BakedAnim,
        nodes: &Nodes,
        all: &mut Vec<RawChannel>,
    ) -> Result<()> {
        for node in &baked.nodes {
            let source = scene.nodes.get(node.typed_id as usize);
            let (Some(number), Some(source)) = (nodes.of_typed_id(node.typed_id), source) else {
                continue;
            };
            let anim = self.anim;
            let at = |time: f64| ufbx::evaluate_transform(anim, source, time);
            let mut add = |curve: Option<(Vec<f32>, RawKeys)>| {
                all.extend(curve.map(|(times_s, values)| RawChannel {
                    node: number,
                    times_s,
                    interpolation: Interpolation::Linear,
                    values,
                }));
            };
            let keys = &node.translation_keys;
            let translation = self.vectors(number, keys, |time| at(time).translation)?;
            add(translation.map(|curve| (curve.times_s, RawKeys::Translation(curve.values))));
            let rotation = self.rotations(number, &node.rotation_keys, |time| at(time).rotation)?;
            add(rotation.map(|curve| (curve.times_s, RawKeys::Rotation(curve.values))));
            let scale = self.vectors(number, &node.scale_keys, |time| at(time).scale)?;
            add(scale.map(|curve| (curve.times_s, RawKeys::Scale(curve.values))));
        }
        Ok(())
    }

    fn curves_of(&self, node: usize) -> impl FnOnce() -> Object + use<> {
        let index = self.index;
        move || {
            Object::new(
                ObjectKind::Animation,
                index,
                format!("curves of node {node}"),
            )
        }
    }

    fn vectors(
        &mut self,
        node: usize,
        keys: &[ufbx::BakedVec3],
        at: impl Fn(f64) -> ufbx::Vec3,
    ) -> Result<Option<Curve<Vec3>>> {
        let mut keys: Vec<Key<Vec3>> = keys.iter().map(|key| (key.time, vec3(key.value))).collect();
        let object = self.curves_of(node);
        self.extend(&mut keys, |time| vec3(at(time)), object)?;
        Ok(Curve::new(&keys, self.range, |a, b, t| a.lerp(b, t as f32)))
    }

    fn rotations(
        &mut self,
        node: usize,
        keys: &[ufbx::BakedQuat],
        at: impl Fn(f64) -> ufbx::Quat,
    ) -> Result<Option<Curve<Quat>>> {
        let mut keys: Vec<Key<Quat>> = keys.iter().map(|key| (key.time, quat(key.value))).collect();
        let object = self.curves_of(node);
        self.extend(&mut keys, |time| quat(at(time)), object)?;
        for at in 1..keys.len() {
            if keys[at].1.dot(keys[at - 1].1) < 0.0 {
                keys[at].1 = -keys[at].1;
            }
        }
        Ok(Curve::new(&keys, self.range, |a, b, t| {
            a.slerp(b, t as f32)
        }))
    }

    /// The curves of blend channels, by element. Their values are 1 for 100 %. Channels that one
    /// property drives share its curve.
    fn blend_curves(
        &mut self,
        baked: &ufbx::BakedAnim,
        props: &WeightProps<'_>,
    ) -> Result<HashMap<u32, Rc<Curve<f64>>>> {
        let index = self.index;
        let mut curves = HashMap::new();
        for element in &baked.elements {
            for prop in &element.props {
                let driven = props.0.get(&(element.element_id, &*prop.name));
                let driven = driven.map_or(&[][..], Vec::as_slice);
                let Some(first) = driven.first() else {
                    continue;
                };
                let key = |key: &ufbx::BakedVec3| (key.time, key.value.x / 100.0);
                let mut keys: Vec<Key<f64>> = prop.keys.iter().map(key).collect();
                let anim = self.anim;
                let weight = |time| ufbx::evaluate_blend_weight(anim, first, time);
                let name = || format!("weights of {}", cut(&first.element.name));
                let at = || Object::new(ObjectKind::Animation, index, name());
                self.extend(&mut keys, weight, at)?;
                let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
                if let Some(curve) = Curve::new(&keys, self.range, mix) {
                    let curve = Rc::new(curve);
                    let ids = driven.iter().map(|channel| channel.element.element_id);
                    curves.extend(ids.map(|id| (id, curve.clone())));
                }
            }
        }
        Ok(curves)
    }

    /// Reads the weights of blend shapes. All nodes that carry a mesh have the same.
    fn weights(
        &mut self,
        baked: &ufbx::BakedAnim,
        props: &WeightProps<'_>,
        morphs: &[DrivenWeights<'_>],
        all: &mut Vec<RawChannel>,
    ) -> Result<()> {
        let curves = self.blend_curves(baked, props)?;
        for morph in morphs {
            let curve = |channel: &Channel<'_>| curves.get(&channel.channel.element.element_id);
            let driven = morph.shapes.channels.iter();
            let driven: Vec<Driven<'_>> = driven
                .map(|channel| Driven {
                    channel: *channel,
                    curve: curve(channel),
                })
                .collect();
            if driven.iter().all(|driven| driven.curve.is_none()) {
                continue;
            }
            let Some((last, others)) = morph.nodes.split_last() else {
                continue;
            };
            let count = morph.shapes.count();
            let at = |node: &usize| {
                let part = format!("weights of node {node}");
                Object::new(ObjectKind::Animation, self.index, part)
            };
            let times_s = times(&driven, self.budget.options, &at(last))?;
            let bytes = (count as u64 + 1).saturating_mul(size_of::<f32>() as u64);
            for node in &morph.nodes {
                self.budget.keys(times_s.len() as u64, bytes, &at(node))?;
            }
            let values = sampled(&driven, &times_s, count);
            let channel = |node: &usize, times_s: Vec<f32>, values: Vec<f32>| RawChannel {
                node: *node,
                times_s,
                interpolation: Interpolation::Linear,
                values: RawKeys::Weights(values),
            };
            for node in others {
                all.push(channel(node, times_s.clone(), values.clone()));
            }
            all.push(channel(last, times_s, values));
        }
        Ok(())
    }
}

/// The channels that properties drive, by element and name of the property.
///
/// Before version 7, the curve is that of a property of the mesh, with the channel's name. ufbx
/// connects that property to the channel.
struct WeightProps<'a>(HashMap<(u32, &'a str), Vec<&'a ufbx::BlendChannel>>);

impl<'a> WeightProps<'a> {
    fn new(scene: &'a ufbx::Scene) -> Self {
        let mut all: HashMap<_, Vec<&ufbx::BlendChannel>> = HashMap::new();
        for channel in &scene.blend_channels {
            let own = (channel.element.element_id, DEFORM_PERCENT);
            let connected = channel.element.connections_dst.iter();
            let connected = connected
                .filter(|connection| &*connection.dst_prop == DEFORM_PERCENT)
                .map(|connection| (connection.src.element_id, &*connection.src_prop));
            for source in connected.chain([own]) {
                all.entry(source).or_default().push(channel);
            }
        }
        Self(all)
    }
}

/// A blend channel in a take.
struct Driven<'a> {
    channel: Channel<'a>,
    /// Its weight over time. `None`: it stays at rest.
    curve: Option<&'a Rc<Curve<f64>>>,
}

impl Driven<'_> {
    fn weight(&self, time_s: f32) -> f64 {
        let Some(curve) = self.curve else {
            return self.channel.channel.weight;
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

    /// Visits the times at which the channel passes one of its shapes, with the number of them
    /// between two keys first.
    fn passes(
        &self,
        mut visit: impl FnMut(u64, &mut dyn Iterator<Item = f32>) -> Result<()>,
    ) -> Result<()> {
        let shapes = &self.channel.channel.keyframes;
        let Some(curve) = self.curve.filter(|_| shapes.len() > 1) else {
            return Ok(());
        };
        // ufbx has sorted the shapes. 0 lies between or beside them.
        let mut targets: Vec<f64> = shapes.iter().map(|shape| shape.target_weight).collect();
        targets.push(0.0);
        targets.sort_by(f64::total_cmp);
        for at in 1..curve.times_s.len() {
            let (a, b) = (curve.values[at - 1], curve.values[at]);
            let (start, end) = (curve.times_s[at - 1], curve.times_s[at]);
            let below = |weight: f64| targets.partition_point(|target| *target <= weight);
            let passed = &targets[below(a.min(b))..below(a.max(b))];
            let mut times = passed.iter().map(|target| {
                let t = (target - a) / (b - a);
                let time = f64::from(start) + f64::from(end - start) * t;
                (time as f32).clamp(start, end)
            });
            visit(passed.len() as u64, &mut times)?;
        }
        Ok(())
    }
}

/// All key times of these channels, and the times at which a channel passes one of its shapes.
///
/// The cap on keys counts them before equal ones are merged.
fn times(driven: &[Driven<'_>], options: &ImportOptions, at: &Object) -> Result<Vec<f32>> {
    let mut curves: Vec<&Rc<Curve<f64>>> = driven.iter().filter_map(|one| one.curve).collect();
    let cap = options.limits.keys as u64;
    // Channels may share a curve.
    curves.sort_by_key(|curve| Rc::as_ptr(curve));
    curves.dedup_by_key(|curve| Rc::as_ptr(curve));
    let mut asked: u64 = curves.iter().map(|curve| curve.times_s.len() as u64).sum();
    for channel in driven {
        channel.passes(|count, _| {
            asked = asked.saturating_add(count);
            check_cap(|| at.clone(), "keys", asked, cap)
        })?;
    }
    let mut times = Vec::with_capacity(asked as usize);
    for curve in curves {
        times.extend_from_slice(&curve.times_s);
    }
    for channel in driven {
        channel.passes(|_, passed| {
            times.extend(passed);
            Ok(())
        })?;
    }
    times.retain(|time| time.is_finite());
    times.sort_by(f32::total_cmp);
    times.dedup();
    Ok(times)
}

/// The weights at these times: `count` for each.
fn sampled(driven: &[Driven<'_>], times_s: &[f32], count: usize) -> Vec<f32> {
    let mut values = vec![0.0; times_s.len() * count];
    for one in driven {
        let Channel { channel, first } = one.channel;
        for (key, time_s) in times_s.iter().enumerate() {
            let first = key * count + first;
            let shapes = first..first + channel.keyframes.len();
            effective_weights(channel, one.weight(*time_s), &mut values[shapes]);
        }
    }
    values
}
