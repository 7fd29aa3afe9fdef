//! Lines and names over the picture: skeleton, axes, bounds, trail, sockets.

use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, pos2};
use throng::character::Character;
use throng::clip::Clip;
use throng::glam::{Affine3A, Mat4, Vec3, Vec4, vec3};
use throng::mesh::Aabb;
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::{Joint, Socket};
use throng::{Crowd, Id, InstanceId};

use super::settings::Settings;
use super::subject::{joint_name, shown as shown_name};

const BONE: Color32 = Color32::from_rgb(255, 196, 64);
const JOINT: Color32 = Color32::from_rgb(255, 240, 200);
const CHOSEN: Color32 = Color32::from_rgb(255, 70, 160);
const BOX: Color32 = Color32::from_rgb(120, 220, 255);
const TRAIL: Color32 = Color32::from_rgb(120, 255, 140);
const SOCKET: Color32 = Color32::from_rgb(210, 150, 255);
const AXES: [Color32; 3] = [
    Color32::from_rgb(240, 70, 70),
    Color32::from_rgb(90, 210, 90),
    Color32::from_rgb(90, 140, 255),
];
/// Number of points of a trail.
const TRAIL_POINTS: usize = 96;
/// The most keys of a time line.
const MOST_KEYS: usize = 2000;
/// Points that are nearer to the eye than this, in clip space, are cut off.
const NEAREST: f32 = 1e-4;

/// The instance whose pose is drawn.
#[derive(Clone, Copy)]
pub(crate) struct Posed<'a> {
    pub(crate) crowd: &'a Crowd,
    pub(crate) id: InstanceId,
    pub(crate) character: &'a Character,
    /// The clock's time in seconds.
    pub(crate) now_s: f64,
    /// The clip that plays, and the time in it.
    pub(crate) clip: Option<(Id<Clip>, f64)>,
}

/// The picture's place on the screen, and its camera.
#[derive(Clone)]
pub(crate) struct Canvas {
    pub(crate) painter: Painter,
    pub(crate) rect: Rect,
    pub(crate) clip_from_world: Mat4,
}

impl Canvas {
    fn clip(&self, point: Vec3) -> Vec4 {
        self.clip_from_world * point.extend(1.0)
    }

    fn on_screen(&self, clip: Vec4) -> Pos2 {
        let (x, y) = (clip.x / clip.w * 0.5 + 0.5, clip.y / clip.w * 0.5 + 0.5);
        let size = self.rect.size();
        self.rect.min + egui::vec2(x * size.x, y * size.y)
    }

    /// The place of a point on the screen, if it is in front of the eye.
    pub(crate) fn place(&self, point: Vec3) -> Option<Pos2> {
        let clip = self.clip(point);
        (clip.w > NEAREST).then(|| self.on_screen(clip))
    }

    /// A line, cut off at the eye.
    fn line(&self, from: Vec3, to: Vec3, stroke: Stroke) {
        let (mut a, mut b) = (self.clip(from), self.clip(to));
        if a.w > b.w {
            std::mem::swap(&mut a, &mut b);
        }
        if b.w <= NEAREST {
            return;
        }
        if a.w < NEAREST {
            a = a.lerp(b, (NEAREST - a.w) / (b.w - a.w));
        }
        let ends = [self.on_screen(a), self.on_screen(b)];
        self.painter.line_segment(ends, stroke);
    }

    fn text(&self, at: Pos2, text: &str, color: Color32) {
        let font = FontId::proportional(11.0);
        let at = at + egui::vec2(5.0, -5.0);
        let below = at + egui::vec2(1.0, 1.0);
        let (painter, align) = (&self.painter, Align2::LEFT_BOTTOM);
        painter.text(
            below,
            align,
            text,
            font.clone(),
            Color32::from_black_alpha(200),
        );
        painter.text(at, align, text, font, color);
    }
}

/// Draws what the settings ask for.
///
/// # Errors
/// Errors of evaluating the pose.
pub(crate) fn draw(canvas: &Canvas, posed: Posed<'_>, settings: &Settings) -> throng::Result<()> {
    let shown = settings.overlays;
    if shown.trail {
        trail(canvas, posed)?;
    }
    if shown.bounds {
        bounds(canvas, posed)?;
    }
    if shown.skeleton || shown.names || shown.axes {
        skeleton(canvas, posed, settings)?;
    }
    if shown.sockets {
        sockets(canvas, posed)?;
    }
    Ok(())
}

/// World space from the space of every joint.
pub(crate) fn joints(posed: Posed<'_>) -> throng::Result<Vec<Affine3A>> {
    let joints = (0..posed.character.skeleton().len() as u16).map(Id::<Joint>::new);
    joints
        .map(|joint| {
            posed
                .crowd
                .instance(posed.id)
                .and_then(|it| it.joint_transform(joint, posed.now_s))
        })
        .collect()
}

fn height(character: &Character) -> f32 {
    character.rest_bounds().size().max_element().max(1e-3)
}

fn skeleton(canvas: &Canvas, posed: Posed<'_>, settings: &Settings) -> throng::Result<()> {
    let shown = settings.overlays;
    let world = joints(posed)?;
    let skeleton = posed.character.skeleton().joints();
    let axis = 0.05 * height(posed.character);
    for (index, (joint, at)) in skeleton.iter().zip(&world).enumerate() {
        let chosen = settings.joint == Some(Id::new(index as u16));
        let color = if chosen { CHOSEN } else { BONE };
        let origin = Vec3::from(at.translation);
        if let (true, Some(parent)) = (shown.skeleton, joint.parent) {
            let parent = world[parent.index()].translation.into();
            canvas.line(parent, origin, Stroke::new(1.5, color));
        }
        if shown.axes {
            for (color, direction) in AXES.into_iter().zip([Vec3::X, Vec3::Y, Vec3::Z]) {
                let direction = at.transform_vector3(direction).normalize_or_zero();
                canvas.line(origin, origin + direction * axis, Stroke::new(1.0, color));
            }
        }
        let Some(place) = canvas.place(origin) else {
            continue;
        };
        if shown.skeleton {
            let (radius, fill) = if chosen { (4.0, CHOSEN) } else { (2.0, JOINT) };
            canvas.painter.circle_filled(place, radius, fill);
        }
        if shown.names {
            let name = joint_name(posed.character, Id::new(index as u16));
            canvas.text(place, &name, if chosen { CHOSEN } else { JOINT });
        }
    }
    Ok(())
}

/// A box that surely contains the vertices at the present pose.
fn bounds(canvas: &Canvas, posed: Posed<'_>) -> throng::Result<()> {
    let Posed { crowd, id, .. } = posed;
    let world = crowd.instance(id)?.transform();
    let joints = (0..posed.character.skeleton().len() as u16).map(Id::<Joint>::new);
    let model: Vec<Affine3A> = joints
        .map(|joint| {
            crowd
                .instance(id)
                .and_then(|it| it.joint_model(joint, posed.now_s))
        })
        .collect::<throng::Result<_>>()?;
    let mut palette = vec![Mat3x4::IDENTITY; posed.character.palette().len()];
    posed
        .character
        .write_palette(&model, WriteOnly::from(&mut palette))?;
    let mut weights = vec![0.0; posed.character.morph_weights().len()];
    crowd.instance(id)?.morph_weights(&mut weights)?;
    let Aabb { min, max } = posed.character.posed_bounds(&palette, Some(&weights))?;
    let corner = |bits: usize| {
        let pick = |bit: usize, low: f32, high: f32| if bits >> bit & 1 == 0 { low } else { high };
        world.transform_point3(vec3(
            pick(0, min.x, max.x),
            pick(1, min.y, max.y),
            pick(2, min.z, max.z),
        ))
    };
    for bits in 0..8 {
        for bit in 0..3 {
            if bits >> bit & 1 == 0 {
                let stroke = Stroke::new(1.0, BOX);
                canvas.line(corner(bits), corner(bits | 1 << bit), stroke);
            }
        }
    }
    Ok(())
}

/// The path over one cycle of the clip: of its root motion, else of the body.
fn trail(canvas: &Canvas, posed: Posed<'_>) -> throng::Result<()> {
    let character = posed.character;
    let Some((id, time_s)) = posed.clip else {
        return Ok(());
    };
    let Some(clip) = character
        .clips()
        .get(id.index())
        .filter(|clip| !clip.is_additive())
    else {
        return Ok(());
    };
    let world = posed.crowd.instance(posed.id)?.transform();
    let body = body(character);
    let mut local = character.skeleton().rest_pose();
    let mut model = vec![Affine3A::IDENTITY; local.len()];
    let mut at = |time_s: f64| -> throng::Result<Vec3> {
        let point = match character.root_motion(id) {
            Some(root) if !root.is_still() => root.at(time_s).translation.as_vec3(),
            _ => {
                clip.sample(time_s, &mut local)?;
                character.skeleton().model_pose(&local, &mut model)?;
                model[body.index()].translation.into()
            }
        };
        Ok(world.transform_point3(point))
    };
    let mut last = at(0.0)?;
    for number in 1..=TRAIL_POINTS {
        let next = at(clip.duration_s() * number as f64 / TRAIL_POINTS as f64)?;
        canvas.line(last, next, Stroke::new(2.0, TRAIL));
        last = next;
    }
    if let Some(place) = canvas.place(at(time_s)?) {
        canvas.painter.circle_filled(place, 4.0, TRAIL);
    }
    Ok(())
}

/// The first joint that branches: the hips of a body.
fn body(character: &Character) -> Id<Joint> {
    let joints = character.skeleton().joints();
    let mut children = vec![0; joints.len()];
    for joint in joints {
        if let Some(parent) = joint.parent {
            children[parent.index()] += 1;
        }
    }
    let branch = children.iter().position(|count| *count > 1);
    Id::new(branch.unwrap_or(0) as u16)
}

fn sockets(canvas: &Canvas, posed: Posed<'_>) -> throng::Result<()> {
    let axis = 0.08 * height(posed.character);
    for (index, (name, _)) in (0..).zip(posed.character.sockets()) {
        let socket = Id::<Socket>::new(index);
        let at = posed
            .crowd
            .instance(posed.id)?
            .joint_transform(socket, posed.now_s)?;
        let origin = Vec3::from(at.translation);
        for (color, direction) in AXES.into_iter().zip([Vec3::X, Vec3::Y, Vec3::Z]) {
            let direction = at.transform_vector3(direction).normalize_or_zero();
            canvas.line(origin, origin + direction * axis, Stroke::new(1.5, color));
        }
        if let Some(place) = canvas.place(origin) {
            canvas
                .painter
                .circle_stroke(place, 4.0, Stroke::new(1.5, SOCKET));
            canvas.text(place, &shown_name(name), SOCKET);
        }
    }
    Ok(())
}

/// The joint that is nearest to a place on the screen, within a few points.
pub(crate) fn pick(canvas: &Canvas, posed: Posed<'_>, at: Pos2) -> Option<Id<Joint>> {
    let world = joints(posed).ok()?;
    let places = world
        .iter()
        .map(|joint| canvas.place(joint.translation.into()));
    let near = places.enumerate().filter_map(|(index, place)| {
        let distance = place?.distance(pos2(at.x, at.y));
        (distance < 12.0).then_some((index, distance))
    });
    let nearest = near.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Id::new(nearest.0 as u16))
}

/// The joint with the largest sum of weights.
pub(crate) fn heaviest(character: &Character) -> Option<Id<Joint>> {
    let sums = weight_sums(character);
    let heaviest = (0..sums.len()).max_by(|a, b| sums[*a].total_cmp(&sums[*b]))?;
    Some(Id::new(heaviest as u16))
}

/// The sum of the weights of each joint.
pub(crate) fn weight_sums(character: &Character) -> Vec<f64> {
    let palette = character.palette();
    let mut sums = vec![0.0_f64; character.skeleton().len()];
    for primitive in character.primitives() {
        let range = character.palette_range(primitive);
        for vertex in 0..primitive.vertex_count() {
            for (entry, weight) in primitive.influences(vertex) {
                if let Some(joint) = palette.get(range.start + entry) {
                    sums[joint.joint.index()] += f64::from(weight);
                }
            }
        }
    }
    sums
}

/// The times of the keys of a clip, ascending: those of the file, else those of the packed clip.
pub(crate) fn key_times(character: &Character, id: Id<Clip>) -> Vec<f64> {
    let times = match character.curves().get(id.index()) {
        Some(curves) => {
            let tracks = curves.tracks().iter().map(|track| track.values.times_s());
            let weights = curves.weight_tracks().iter();
            let weights = weights.map(|track| &track.keys.times_s[..]);
            let times = tracks.chain(weights).flatten();
            let mut times: Vec<f64> = times.map(|time_s| f64::from(*time_s)).collect();
            times.sort_by(f64::total_cmp);
            times.dedup();
            times
        }
        None => {
            let clip = character.clips().get(id.index());
            clip.map_or_else(Vec::new, frames)
        }
    };
    // More would be a solid bar, so only some of them are shown.
    let step = times.len().div_ceil(MOST_KEYS).max(1);
    times.into_iter().step_by(step).collect()
}

/// The times of the frames of a packed clip, which end with the clip.
fn frames(clip: &Clip) -> Vec<f64> {
    let report = clip.report();
    let last = report.frames.saturating_sub(1);
    let rate_hz = report.rate_hz.max(1e-6);
    let start_s = clip.duration_s() - last as f64 / rate_hz;
    let step = report.frames.div_ceil(MOST_KEYS).max(1);
    let frames = (0..report.frames).step_by(step);
    frames
        .map(|frame| start_s + frame as f64 / rate_hz)
        .collect()
}
