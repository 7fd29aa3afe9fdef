//! Frames whose instances are hidden from the camera, and whose shadows nobody sees.

use crate::Outcome;
use crate::culling::{CACHES_BYTES, PICTURE, SHADOW_MAP};
use crate::depth_image::{self, DepthImage, DepthImageDesc};
use crate::load::CLIPS;
use crate::places::{Place, Site};
use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;
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

/// The things that hide people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hides {
    Nothing,
    /// Walls and the ground hide people, and the camera leaves out shadows that it does not see.
    Walls,
    /// People hide each other, too: the views are late.
    People,
}

impl Hides {
    pub(crate) const ALL: [Self; 3] = [Self::Nothing, Self::Walls, Self::People];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Walls => "walls",
            Self::People => "walls, people",
        }
    }
}

/// The levels of detail of the character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Levels {
    /// Levels that are simplified from the full one.
    Near,
    /// Also levels that are meshes of their own.
    Far,
}

impl Levels {
    pub(crate) const ALL: [Self; 2] = [Self::Near, Self::Far];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Near => "near",
            Self::Far => "near, far",
        }
    }

    /// The built-in character with these levels.
    pub(crate) fn character(self) -> Outcome<Character> {
        let mut raw = RawCharacter::mannequin();
        if self == Self::Near {
            let is_far = |primitive: &RawPrimitive| primitive.indices.is_empty();
            let far = raw.primitives.extract_if(.., |it| is_far(it));
            let first = far.filter_map(|it| it.levels.iter().position(|it| !it.indices.is_empty()));
            let near = first.min().unwrap_or(usize::MAX);
            for primitive in &mut raw.primitives {
                primitive.levels.truncate(near);
            }
        }
        Ok(raw.build(&ImportOptions::default())?.character)
    }
}

/// A crowd to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) place: Place,
    pub(crate) people: usize,
    pub(crate) hides: Hides,
    pub(crate) levels: Levels,
}

/// The work of frames.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// All frames are waited for, so this only decides about memory.
    pub(crate) frames_in_flight: u32,
    /// Draws the views. Otherwise, only what hides people is drawn.
    pub(crate) draws: bool,
    /// Empties the CPU's caches before each frame, and draws nothing but walls.
    pub(crate) cold: bool,
}

/// The figures of one frame.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    /// Of the camera and the light, of the frame before with the same frame index.
    pub(crate) views: Vec<ViewStats>,
    /// The device's times by scope in milliseconds, of that frame, too.
    pub(crate) scopes: Vec<(&'static str, f64)>,
    /// The CPU's microseconds to record the frame, without draws.
    pub(crate) records_us: f64,
}

/// A crowd with its place.
pub(crate) struct Scene {
    crowd: Crowd,
    site: Site,
    hides: Hides,
    run: Run,
    /// The depth that hides people.
    depth: Option<DepthImage>,
    /// The houses and the ground, with the pass that draws them to it.
    houses: Option<(Crowd, PassId)>,
    /// The pass that draws the people to it.
    early: Option<PassId>,
    /// The targets of people and shadows, with their passes.
    drawn: Option<(Target, PassId, DepthImage, PassId)>,
    frame: u32,
    /// Written before each frame, to empty the caches. Empty if they keep what they have.
    other: Vec<u8>,
}

impl Scene {
    /// Spawns the people with these numbers.
    pub(crate) fn new(
        context: &mut Context,
        case: &Case,
        people: Range<usize>,
        run: Run,
    ) -> Outcome<Self> {
        let character = &case.levels.character()?;
        let site = Site::new(case.place, case.people);
        let mut capacity = Capacity::new(2).with_character(
            character,
            &CharacterDesc::default(),
            people.len() as u32,
            SkinningStage::Vertex,
        )?;
        let near = FULL_PALETTES * character.palette().len();
        capacity.palette_entries = capacity.palette_entries.min(near as u32);
        if case.hides != Hides::Nothing {
            capacity.depth_pixels = PICTURE.width * PICTURE.height;
        }
        if case.hides == Hides::People {
            capacity.late_views = 2;
        }
        let desc = CrowdDesc {
            frames_in_flight: run.frames_in_flight,
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
        for number in people {
            let turn = Quat::from_rotation_y(number as f32 * 2.4);
            let spawn = Spawn {
                world_from_model: Affine3A::from_rotation_translation(turn, site.people[number]),
                play: Play::new(CLIPS[number % CLIPS.len()]).offset_s(number as f64 * 0.137),
                ..Spawn::default()
            };
            crowd.spawn(kind, &spawn)?;
        }
        let mut scene = Self {
            crowd,
            hides: case.hides,
            run,
            depth: None,
            houses: None,
            early: None,
            drawn: None,
            frame: 0,
            other: vec![0; if run.cold { CACHES_BYTES } else { 0 }],
            site,
        };
        if case.hides != Hides::Nothing {
            let reader = vk::PipelineStageFlags2::COMPUTE_SHADER;
            scene.depth = Some(image(context, PICTURE, reader)?);
            scene.build_houses(context)?;
        }
        if case.hides == Hides::People && !run.cold {
            // SAFETY: the format is that of the image.
            scene.early = Some(unsafe { scene.crowd.create_pass(&depth_pass())? });
        }
        if run.draws {
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
            frames_in_flight: self.run.frames_in_flight,
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
        // SAFETY: the format is that of the image.
        let pass = unsafe { crowd.create_pass(&depth_pass())? };
        self.houses = Some((crowd, pass));
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
            if let Some((houses, _)) = self.houses {
                houses.destroy(&mut context.allocator());
            }
        }
        if let Some(depth) = self.depth {
            depth.destroy(context);
        }
        if let Some((_, _, map, _)) = self.drawn {
            map.destroy(context);
        }
        Ok(())
    }

    /// The figures of a number of frames, after `before` others.
    pub(crate) fn run(
        &mut self,
        context: &mut Context,
        before: usize,
        frames: usize,
    ) -> Outcome<Vec<Figures>> {
        for _ in 0..before {
            self.step(context)?;
        }
        (0..frames).map(|_| self.step(context)).collect()
    }

    /// The views of the camera and the light.
    fn views(&self) -> Vec<View> {
        let late = self.hides == Hides::People;
        let camera = View {
            late,
            ..self.site.camera(self.frame)
        };
        let receivers = (self.hides != Hides::Nothing).then(|| Receivers {
            floor: Some(Vec4::Y),
            ..Receivers::of(0)
        });
        let light = self.site.light.map(|light| View {
            receivers,
            late,
            ..light
        });
        std::iter::once(camera).chain(light).collect()
    }

    /// One frame, which is submitted and waited for.
    fn step(&mut self, context: &mut Context) -> Outcome<Figures> {
        self.frame += 1;
        let frame_index = self.frame % self.run.frames_in_flight;
        let now_s = f64::from(self.frame) * FRAME_S;
        self.other.fill(self.frame as u8);
        black_box(&self.other);
        let views = self.views();
        let (crowd, houses, drawn) = (&mut self.crowd, &mut self.houses, &self.drawn);
        crowd.update(now_s)?;
        // SAFETY: all work submitted before was waited for.
        let mut frame = unsafe { crowd.begin_frame(&mut context.allocator(), frame_index, now_s)? };
        let mut figures = Figures {
            views: frame.view_stats().to_vec(),
            scopes: frame.gpu_times().to_vec(),
            records_us: 0.0,
        };
        let mut around = match houses {
            // SAFETY: as above.
            Some((houses, pass)) => Some(unsafe {
                let allocator = &mut context.allocator();
                (houses.begin_frame(allocator, frame_index, now_s)?, *pass)
            }),
            None => None,
        };
        let depth = self.depth.as_ref();
        let depths = depth.map(|image| Depth {
            layout: depth_image::READ,
            ..Depth::new(image.view, image.extent())
        });
        let depths = depths.as_slice();
        context.submit_and_wait(|device, cmd| -> throng::Result<()> {
            // SAFETY: the command buffer is recording, and is submitted and waited for at once. The
            // passes are of the formats of what is begun. The depth is drawn before, with the
            // camera's view, and stays as it is until the reveal.
            unsafe {
                let mut walls = None;
                if let (Some((around, pass)), Some(image)) = (&mut around, depth) {
                    let all = View {
                        late: false,
                        ..views[0]
                    };
                    let ids = around.record_prepare(cmd, &[all])?;
                    image.begin(device, cmd);
                    around.record_draw(cmd, ids[0], *pass)?;
                    image.end(device, cmd);
                    walls = Some((around, ids[0], *pass));
                }
                let of_walls = if walls.is_some() { depths } else { &[] };
                let start = Instant::now();
                let ids = frame.record_prepare_behind(cmd, &views, of_walls)?;
                figures.records_us = us(start);
                if let (Some(early), Some(image)) = (self.early, depth) {
                    image.begin(device, cmd);
                    if let Some((around, id, pass)) = walls {
                        around.record_draw(cmd, id, pass)?;
                    }
                    frame.record_draw(cmd, ids[0], early)?;
                    image.end(device, cmd);
                }
                if self.hides == Hides::People {
                    let start = Instant::now();
                    frame.record_reveal(
                        cmd,
                        if self.early.is_some() {
                            depths
                        } else {
                            of_walls
                        },
                    )?;
                    figures.records_us += us(start);
                }
                if let (Some((target, color, map, shadow)), [camera, light]) = (drawn, &ids[..]) {
                    map.begin(device, cmd);
                    frame.record_draw(cmd, *light, *shadow)?;
                    map.end(device, cmd);
                    target.begin(device, cmd, &Begin::default());
                    frame.record_draw(cmd, *camera, *color)?;
                    target.end(device, cmd);
                }
            }
            Ok(())
        })??;
        Ok(figures)
    }
}

/// The pass of the depth that hides people.
fn depth_pass() -> PassDesc<'static> {
    PassDesc {
        kind: PassKind::Depth,
        depth_format: depth_image::FORMAT,
        ..PassDesc::default()
    }
}

/// Bytes of the device's memory for crowds, beyond palettes and pyramids.
pub(crate) fn memory(context: &mut Context) -> u64 {
    let all = context.allocator().generate_report().allocations;
    let counts = |name: &str| {
        let others = ["throng palettes (ring)", "throng pyramids"];
        name.starts_with("throng") && !others.contains(&name)
    };
    let counted = all.iter().filter(|it| counts(&it.name));
    counted.map(|it| it.size).sum()
}

fn us(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
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
