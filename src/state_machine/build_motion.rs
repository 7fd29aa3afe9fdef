//! Motions: looks up clips and turns points into blend spaces.

use super::build::Known;
use super::desc::MotionDesc;
use super::model::{Motion, Played};
use crate::clip::Clip;
use crate::error::{DescFault, cut};
use crate::id::Id;
use crate::motion::{BlendLine, BlendPlane, BlendShape, BlendSpace};
use crate::text::{At, Checked, Fault, check_cap, find, unknown};
use glam::Vec2;

impl Known<'_> {
    pub(super) fn motion(&self, at: At, desc: &MotionDesc, additive: bool) -> Checked<Motion> {
        match desc {
            MotionDesc::None => Ok(Motion::None),
            MotionDesc::Clip(name) => {
                let clip = self.clip(at, "motion.clip", name, additive)?;
                Ok(Motion::Clip(clip))
            }
            MotionDesc::Blend1 { parameter, points } => {
                let field = "motion.blend_1d";
                let positions: Vec<f32> = points.iter().map(|point| point.at).collect();
                check_points(at, field, &positions, |at| at.is_finite())?;
                let names = points.iter().map(|point| point.clip.as_str());
                let line = BlendLine::new(&positions);
                Ok(Motion::Blend {
                    parameters: [self.float(at, &format!("{field}.parameter"), parameter)?; 2],
                    shape: BlendShape::Line(line.map_err(|why| Fault::refused(at, field, why))?),
                    clips: self.clips(at, field, names, additive)?,
                })
            }
            MotionDesc::Blend2 { parameters, points } => {
                let field = "motion.blend_2d";
                let positions: Vec<_> = points.iter().map(|p| Vec2::from_array(p.at)).collect();
                check_points(at, field, &positions, |at| at.is_finite())?;
                let names = points.iter().map(|point| point.clip.as_str());
                let plane = BlendPlane::new(&positions);
                Ok(Motion::Blend {
                    parameters: self.axes(at, &format!("{field}.parameters"), parameters)?,
                    shape: BlendShape::Plane(plane.map_err(|why| Fault::refused(at, field, why))?),
                    clips: self.clips(at, field, names, additive)?,
                })
            }
            MotionDesc::BlendSpace { name, parameters } => {
                self.blend_space(at, name, parameters, additive)
            }
        }
    }

    /// Builds a motion from one of the character's blend spaces.
    fn blend_space(
        &self,
        at: At,
        name: &str,
        parameters: &[String],
        additive: bool,
    ) -> Checked<Motion> {
        let field = "motion.blend_space";
        let names = || self.spaces.iter().map(BlendSpace::name);
        let field_of_name = format!("{field}.name");
        let index = find(at, &field_of_name, "blend space", name, names)?;
        let space = &self.spaces[usize::from(index)];
        let field_of_parameters = format!("{field}.parameters");
        if parameters.len() != space.dimensions() {
            let why = DescFault::Value {
                value: parameters.len() as f64,
                allowed: match space.dimensions() {
                    1 => "1 parameter for its one coordinate",
                    _ => "2 parameters for its two coordinates",
                },
            };
            return Err(Fault::new(at, field_of_parameters, why));
        }
        let clips = space.clips().iter();
        let clips = clips.map(|clip| self.played(at, &field_of_name, *clip, additive));
        Ok(Motion::Blend {
            parameters: self.axes(at, &field_of_parameters, parameters)?,
            shape: space.shape.clone(),
            clips: clips.collect::<Checked<_>>()?,
        })
    }

    /// The parameters of the one or two coordinates of a motion.
    fn axes(&self, at: At, field: &str, names: &[String]) -> Checked<[u16; 2]> {
        let axis = |axis: usize| self.float(at, &format!("{field}[{axis}]"), &names[axis]);
        Ok([axis(0)?, axis(names.len() - 1)?])
    }

    fn clips<'n>(
        &self,
        at: At,
        field: &str,
        names: impl Iterator<Item = &'n str>,
        additive: bool,
    ) -> Checked<Vec<Played>> {
        let clip = |(number, name)| {
            let field = format!("{field}.points[{number}].clip");
            self.clip(at, &field, name, additive)
        };
        names.enumerate().map(clip).collect()
    }

    fn clip(&self, at: At, field: &str, name: &str, additive: bool) -> Checked<Played> {
        let names = || self.clips.iter().map(|clip| clip.name);
        // Clip indices have 16 bits.
        let found = names().position(|other| other == name);
        let Some(index) = found.and_then(|index| u16::try_from(index).ok()) else {
            return Err(unknown(at, field, "clip", name, names));
        };
        self.played(at, field, Id::new(index), additive)
    }

    /// Looks up a clip by its index.
    fn played(&self, at: At, field: &str, id: Id<Clip>, additive: bool) -> Checked<Played> {
        let Some(clip) = self.clips.get(id.index()) else {
            let why = DescFault::Invalid("has a clip that the state machine was not given");
            return Err(Fault::new(at, field, why));
        };
        if clip.additive.is_some_and(|is| is != additive) {
            let why = DescFault::Additive {
                clip: cut(clip.name),
                is: if additive { "not additive" } else { "additive" },
            };
            return Err(Fault::new(at, field, why));
        }
        Ok(Played {
            clip: id,
            duration_s: clip.duration_s,
            velocity: clip.ground_velocity.unwrap_or_default(),
        })
    }
}

fn check_points<T: Copy>(
    at: At,
    field: &str,
    positions: &[T],
    finite: impl Fn(T) -> bool,
) -> Checked<()> {
    if positions.is_empty() {
        return Err(Fault::new(at, field, DescFault::Missing("points")));
    }
    check_cap(at, "points", positions.len(), BlendSpace::MAX_POINTS)?;
    let infinite = positions.iter().position(|at| !finite(*at));
    infinite.map_or(Ok(()), |number| {
        let field = format!("{field}.points[{number}].at");
        Err(Fault::new(at, field, DescFault::Invalid("is not finite")))
    })
}
