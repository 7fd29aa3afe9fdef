//! Motions: clips are looked up, and points become blend spaces.

use super::build::{Checked, Known};
use super::desc::MotionDesc;
use super::fault::{At, DescFault, Fault};
use super::model::{Motion, Played};
use crate::character::ClipId;
use crate::desc_check::{check_cap, unknown};
use crate::error::cut;
use crate::pose::{BlendSpace1, BlendSpace2, MAX_BLEND_POINTS};
use glam::Vec2;

impl Known<'_> {
    pub(super) fn motion(&self, at: At, desc: &MotionDesc, additive: bool) -> Checked<Motion> {
        match desc {
            MotionDesc::None => Ok(Motion::None),
            MotionDesc::Clip(name) => Ok(Motion::Clip(self.clip(
                at,
                "motion.clip",
                name,
                additive,
            )?)),
            MotionDesc::Blend1 { parameter, points } => {
                let field = "motion.blend_1d";
                let places: Vec<f32> = points.iter().map(|point| point.at).collect();
                check_points(at, field, &places, |at| at.is_finite())?;
                let names = points.iter().map(|point| point.clip.as_str());
                Ok(Motion::Blend1 {
                    parameter: self.float(at, &format!("{field}.parameter"), parameter)?,
                    space: BlendSpace1::new(&places).map_err(|why| spaced(at, field, why))?,
                    clips: self.clips(at, field, names, additive)?,
                })
            }
            MotionDesc::Blend2 { parameters, points } => {
                let field = "motion.blend_2d";
                let places: Vec<_> = points.iter().map(|p| Vec2::from_array(p.at)).collect();
                check_points(at, field, &places, |at| at.is_finite())?;
                let names = points.iter().map(|point| point.clip.as_str());
                let parameter = |axis: usize| {
                    let field = format!("{field}.parameters[{axis}]");
                    self.float(at, &field, &parameters[axis])
                };
                Ok(Motion::Blend2 {
                    parameters: [parameter(0)?, parameter(1)?],
                    space: BlendSpace2::new(&places).map_err(|why| spaced(at, field, why))?,
                    clips: self.clips(at, field, names, additive)?,
                })
            }
        }
    }

    fn clips<'n>(
        &self,
        at: At,
        field: &str,
        names: impl Iterator<Item = &'n str>,
        additive: bool,
    ) -> Checked<Vec<Played>> {
        names
            .enumerate()
            .map(|(number, name)| {
                self.clip(
                    at,
                    &format!("{field}.points[{number}].clip"),
                    name,
                    additive,
                )
            })
            .collect()
    }

    fn clip(&self, at: At, field: &str, name: &str, additive: bool) -> Checked<Played> {
        let names = || self.clips.iter().map(|clip| clip.name);
        // Clips have indices of 16 bits.
        let found = names().position(|other| other == name);
        let Some(index) = found.and_then(|index| u16::try_from(index).ok()) else {
            return Err(unknown(at, field, "clip", name, names));
        };
        let clip = &self.clips[usize::from(index)];
        if clip.additive.is_some_and(|is| is != additive) {
            let why = DescFault::Additive {
                clip: cut(name),
                is: if additive { "not additive" } else { "additive" },
            };
            return Err(Fault::new(at, field, why));
        }
        Ok(Played {
            clip: ClipId(index),
            duration_s: clip.duration_s,
        })
    }
}

fn spaced(at: At, field: &str, why: crate::Error) -> Fault {
    Fault::new(at, field, DescFault::Refused(Box::new(why)))
}

fn check_points<T: Copy>(
    at: At,
    field: &str,
    places: &[T],
    finite: impl Fn(T) -> bool,
) -> Checked<()> {
    if places.is_empty() {
        return Err(Fault::new(at, field, DescFault::Missing("points")));
    }
    check_cap(at, "points", places.len(), MAX_BLEND_POINTS)?;
    match places.iter().position(|place| !finite(*place)) {
        Some(number) => Err(Fault::new(
            at,
            format!("{field}.points[{number}].at"),
            DescFault::Invalid("is not finite"),
        )),
        None => Ok(()),
    }
}
