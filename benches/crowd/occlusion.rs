//! Frames whose instances walls hide from the camera, and whose shadows nobody sees.

use crate::Outcome;
use crate::culling::{FRAMES_IN_FLIGHT, PICTURE, SHADOW_MAP};
use crate::depth_image::{self, DepthImage, DepthImageDesc};
use crate::load::CLIPS;
use crate::places::{Place, Site};
use throng::ash::vk;
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3, Vec4};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::{
    Capacity, CharacterDesc, Crowd, CrowdDesc, Depth, PassDesc, PassId, PassKind, Play, Receivers,
    SkinningStage, Spawn, Stages, View, ViewStats,
};
use throng_standalone::{Begin, Context, Target, TargetDesc};

const FRAME_S: f64 = 1.0 / 60.0;
/// The most people with palettes of their own.
const FULL_PALETTES: usize = 16_384;

/// The kinds of hiding that leave people out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hides {
    Nothing,
    /// People behind walls, and shadows that the camera does not see.
    Walls,
}

impl Hides {
    pub(crate) const ALL: [Self; 2] = [Self::Nothing, Self::Walls];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Walls => "walls",
        }
    }
}

/// A crowd to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) place: Place,
    pub(crate) people: usize,
    pub(crate) hides: Hides,
}

/// The figures of one frame.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    /// Of the camera and the light, some frames before.
    pub(crate) views: Vec<ViewStats>,
    /// The device's times by scope, in milliseconds, some frames before.
    pub(crate) scopes: Vec<(&'static str, f64)>,
}

/// A crowd with its place.
pub(crate) struct Scene {
    crowd: Crowd,
    site: Site,
    hides: Hides,
    /// The houses, with the pass and the image of their depth.
    houses: Option<(Crowd, PassId, DepthImage)>,
    /// The targets of people and shadows, with their passes.
    drawn: Option<(Target, PassId, DepthImage, PassId)>,
    frame: u32,
}

impl Scene {
    /// Draws what it prepares if `draws`.
    pub(crate) fn new(
        context: &mut Context,
        character: &Character,
        case: &Case,
        draws: bool,
    ) -> Outcome<Self> {
        let site = Site::new(case.place, case.people);
        let mut capacity = Capacity::new(2).with_character(
            character,
            &CharacterDesc::default(),
            case.people as u32,
            SkinningStage::Vertex,
        )?;
        let near = FULL_PALETTES * character.palette().len();
        capacity.palette_entries = capacity.palette_entries.min(near as u32);
        if case.hides == Hides::Walls {
            capacity.depth_pixels = PICTURE.width * PICTURE.height;
        }
        let desc = CrowdDesc {
            frames_in_flight: FRAMES_IN_FLIGHT,
            capacity,
            stages: Stages::Gpu,
            profile: true,
            ..CrowdDesc::default()
        };
        // SAFETY: the caller destroys the scene before the context is dropped.
        let device = unsafe { context.gpu_device() };
        let mut crowd = Crowd::new(&device, &mut context.allocator(), &desc)?;
        let kind = crowd.add_character(
            &mut context.allocator(),
            character,
            &CharacterDesc::default(),
        )?;
        for (number, at) in site.people.iter().enumerate() {
            let turn = Quat::from_rotation_y(number as f32 * 2.4);
            let spawn = Spawn {
                world_from_model: Affine3A::from_rotation_translation(turn, *at),
                play: Play::new(CLIPS[number % CLIPS.len()]).offset_s(number as f64 * 0.137),
                ..Spawn::default()
            };
            crowd.spawn(kind, &spawn)?;
        }
        let mut scene = Self {
            crowd,
            hides: case.hides,
            houses: None,
            drawn: None,
            frame: 0,
            site,
        };
        if case.hides == Hides::Walls && !scene.site.houses.is_empty() {
            scene.build_houses(context)?;
        }
        if draws {
            scene.build_targets(context)?;
        }
        Ok(scene)
    }

    /// Builds the houses in a crowd of their own, whose times are not measured.
    fn build_houses(&mut self, context: &mut Context) -> Outcome {
        let body = RawPrimitive::cuboid(Vec3::ONE).translated(Vec3::splat(0.5));
        let house = RawCharacter::rigid("house", vec![body], Vec::new());
        let house = house.build(&ImportOptions::default())?.character;
        let count = self.site.houses.len() as u32;
        let desc = CrowdDesc {
            frames_in_flight: FRAMES_IN_FLIGHT,
            capacity: Capacity {
                instances: count,
                palette_entries: count,
                ..Capacity::new(1)
            },
            ..CrowdDesc::default()
        };
        // SAFETY: the caller destroys the scene before the context is dropped.
        let device = unsafe { context.gpu_device() };
        let mut crowd = Crowd::new(&device, &mut context.allocator(), &desc)?;
        let kind =
            crowd.add_character(&mut context.allocator(), &house, &CharacterDesc::default())?;
        for [least, greatest] in &self.site.houses {
            let spawn = Spawn {
                world_from_model: Affine3A::from_scale_rotation_translation(
                    *greatest - *least,
                    Quat::IDENTITY,
                    *least,
                ),
                ..Spawn::default()
            };
            crowd.spawn(kind, &spawn)?;
        }
        let pass = PassDesc {
            kind: PassKind::Depth,
            depth_format: depth_image::FORMAT,
            ..PassDesc::default()
        };
        // SAFETY: the format is that of the image.
        let pass = unsafe { crowd.create_pass(&pass)? };
        let image = image(context, PICTURE, vk::PipelineStageFlags2::COMPUTE_SHADER)?;
        self.houses = Some((crowd, pass, image));
        Ok(())
    }

    fn build_targets(&mut self, context: &mut Context) -> Outcome {
        let target = Target::new(
            context,
            &TargetDesc {
                extent: PICTURE,
                ..TargetDesc::default()
            },
        )?;
        let shadow = PassDesc {
            kind: PassKind::Shadow,
            depth_format: depth_image::FORMAT,
            ..PassDesc::default()
        };
        // SAFETY: the formats are those of the images.
        let (color, shadow) = unsafe {
            let color = self.crowd.create_pass(&target.pass_desc())?;
            (color, self.crowd.create_pass(&shadow)?)
        };
        let map = image(
            context,
            SHADOW_MAP,
            vk::PipelineStageFlags2::FRAGMENT_SHADER,
        )?;
        self.drawn = Some((target, color, map, shadow));
        Ok(())
    }

    pub(crate) fn destroy(self, context: &mut Context) -> Outcome {
        context.wait_idle()?;
        // SAFETY: the device is idle.
        unsafe {
            self.crowd.destroy(&mut context.allocator());
            if let Some((houses, _, depth)) = self.houses {
                houses.destroy(&mut context.allocator());
                depth.destroy(context);
            }
        }
        if let Some((_, _, map, _)) = self.drawn {
            map.destroy(context);
        }
        Ok(())
    }

    /// The figures of a number of frames, after those that fill the pipeline.
    pub(crate) fn run(&mut self, context: &mut Context, frames: u32) -> Outcome<Vec<Figures>> {
        for _ in 0..2 * FRAMES_IN_FLIGHT {
            self.step(context)?;
        }
        (0..frames).map(|_| self.step(context)).collect()
    }

    /// The views of the camera and the light.
    fn views(&self) -> [View; 2] {
        let camera = self.site.camera(self.frame);
        let mut light = self.site.light;
        if self.hides == Hides::Walls {
            light.receivers = Some(Receivers {
                floor: Some(Vec4::Y),
                ..Receivers::of(0)
            });
        }
        [camera, light]
    }

    /// One frame, which is submitted and waited for.
    fn step(&mut self, context: &mut Context) -> Outcome<Figures> {
        self.frame += 1;
        let frame_index = self.frame % FRAMES_IN_FLIGHT;
        let now_s = f64::from(self.frame) * FRAME_S;
        let views = self.views();
        let (crowd, houses, drawn) = (&mut self.crowd, &mut self.houses, &self.drawn);
        crowd.update(now_s)?;
        // SAFETY: all work submitted before was waited for.
        let mut frame = unsafe { crowd.begin_frame(&mut context.allocator(), frame_index, now_s)? };
        let figures = Figures {
            views: frame.view_stats().to_vec(),
            scopes: frame.gpu_times().to_vec(),
        };
        let mut around = match houses {
            // SAFETY: as above.
            Some((houses, pass, depth)) => Some(unsafe {
                let allocator = &mut context.allocator();
                (
                    houses.begin_frame(allocator, frame_index, now_s)?,
                    *pass,
                    depth,
                )
            }),
            None => None,
        };
        context.submit_and_wait(|device, cmd| -> throng::Result<()> {
            // SAFETY: the command buffer is recording, and is submitted and waited for at once. The
            // passes are of the formats of what is begun. The depth is drawn before, with the
            // camera's view, and stays as it is.
            unsafe {
                let mut depths = Vec::new();
                if let Some((around, pass, image)) = &mut around {
                    let ids = around.record_prepare(cmd, &views[..1])?;
                    image.begin(device, cmd);
                    around.record_draw(cmd, ids[0], *pass)?;
                    image.end(device, cmd);
                    depths.push(Depth {
                        layout: depth_image::READ,
                        ..Depth::new(image.view, image.extent())
                    });
                }
                let ids = frame.record_prepare_behind(cmd, &views, &depths)?;
                if let Some((target, color, map, shadow)) = drawn {
                    map.begin(device, cmd);
                    frame.record_draw(cmd, ids[1], *shadow)?;
                    map.end(device, cmd);
                    target.begin(device, cmd, &Begin::default());
                    frame.record_draw(cmd, ids[0], *color)?;
                    target.end(device, cmd);
                }
            }
            Ok(())
        })??;
        Ok(figures)
    }
}

/// A depth image that a stage reads.
fn image(
    context: &mut Context,
    extent: vk::Extent2D,
    reader: vk::PipelineStageFlags2,
) -> Outcome<DepthImage> {
    let desc = DepthImageDesc {
        name: "depth",
        extent,
        view_type: vk::ImageViewType::TYPE_2D,
        farthest: 1.0,
        reader,
    };
    DepthImage::new(context, desc)
}
