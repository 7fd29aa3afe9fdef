//! The crowd, the ground and the shadow on the device, and the picture that they are drawn into.

use std::io::Cursor;

use throng::animator::RootMotionMode;
use throng::ash::{self, vk};
use throng::character::Character;
use throng::glam::{Affine3A, Vec2, Vec3, vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::mesh::{Aabb, Image, Material, TextureRef};
use throng::{
    AnimationEvent, Capacity, CharacterDesc, CharacterId, Crowd, CrowdDesc, Detail, InstanceId,
    MaterialDesc, PassDesc, PassId, SkinningStage, Spawn, Stages, Stats, Threads, View, ViewStats,
};
use throng_standalone::{Context, Target};

use super::Result;
use super::args::Look;
use super::canvas::{begin, new_target, sampled};
use super::figures::{Deformed, Times, deformed, times};
use super::grid::{around, check_memory, corners, places};
use super::lens::{LEVELS, Lens, Modules};
use super::playback::Playback;
use super::settings::{Settings, TINTS};
use super::shadow::ShadowImage;
use super::subject::Subject;

/// Number of frames in flight.
pub(crate) const FRAMES_IN_FLIGHT: u32 = 2;
const SHADOW_TEXELS: u32 = 2048;
/// Bits of the view masks.
const PEOPLE: u32 = 1;
const GROUND: u32 = 2;
/// The least height of the sun that casts shadows on the ground: the sine of its angle.
const LOWEST_SUN: f32 = 0.02;

/// A picture to draw: its view, and the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shot {
    pub(crate) view: View,
    pub(crate) time_s: f64,
    pub(crate) frame_index: u32,
    /// The box around everything that casts a shadow.
    pub(crate) cast: Aabb,
    /// The displacement of the camera that follows, in metres. The ground comes along.
    pub(crate) followed: Vec3,
}

/// Everything on the device that is not a panel.
pub(crate) struct Scene {
    crowd: Crowd,
    passes: Option<Passes>,
    shadow: Option<ShadowImage>,
    /// True once the shadow map was drawn.
    has_map: bool,
    lens: Option<Lens>,
    modules: Modules,
    /// The fragment shader of the shaded view, if it is not the built-in one.
    shading: Option<Vec<u32>>,
    ground: Option<Ground>,
    character: Option<CharacterId>,
    ids: Vec<InstanceId>,
    target: Target,
    /// The box around all instances.
    pub(crate) bounds: Aabb,
    pub(crate) events: Vec<AnimationEvent<InstanceId>>,
    pub(crate) times: Times,
    pub(crate) stats: Stats,
    /// The figures of the character in the last picture.
    pub(crate) shown: ViewStats,
    pub(crate) deformed: Option<Deformed>,
}

/// A large plane with a grid.
#[derive(Clone, Copy)]
struct Ground {
    character: CharacterId,
    id: InstanceId,
    /// Its height, and the edge of a cell of the grid, in metres.
    height_m: f32,
    cell_m: f32,
}

#[derive(Clone, Copy)]
struct Passes {
    picture: PassId,
    /// The picture by level of detail.
    levels: PassId,
    shadow: PassId,
}

impl Scene {
    /// Creates an empty scene with a picture of this size.
    ///
    /// # Errors
    /// Errors of the device.
    pub(crate) fn new(
        context: &mut Context,
        extent: vk::Extent2D,
        multisampled: bool,
    ) -> Result<Self> {
        let target = new_target(context, extent, multisampled)?;
        let desc = CrowdDesc {
            frames_in_flight: FRAMES_IN_FLIGHT,
            capacity: Capacity {
                instances: 2,
                palette_entries: 1,
                ..Capacity::default()
            },
            threads: Threads::Rayon,
            // The lens draws ranges of the CPU's lists.
            stages: Stages::Cpu,
            profile: context.timestamp_bits > 0,
            ..CrowdDesc::default()
        };
        let modules = Modules::built()?;
        // SAFETY: the context outlives the crowd.
        let device = unsafe { context.gpu_device() };
        let crowd = Crowd::new(&device, &mut context.allocator(), &desc)?;
        let mut scene = Self {
            crowd,
            passes: None,
            shadow: None,
            has_map: false,
            lens: None,
            modules,
            shading: None,
            ground: None,
            character: None,
            ids: Vec::new(),
            target,
            bounds: Aabb {
                min: Vec3::splat(-1.0),
                max: Vec3::ONE,
            },
            events: Vec::new(),
            times: Times::default(),
            stats: Stats::default(),
            shown: ViewStats::default(),
            deformed: None,
        };
        match scene.create_passes() {
            Ok(()) => Ok(scene),
            Err(error) => {
                scene.destroy(context)?;
                Err(error)
            }
        }
    }

    fn create_passes(&mut self) -> Result<()> {
        let material = self.shading.as_ref().map(|words| MaterialDesc {
            fragment_spirv: words,
            set_layouts: &[],
            push_bytes: 0,
        });
        let picture = PassDesc {
            reversed_z: true,
            shadow_map: self.shadow.is_some() && material.is_none(),
            material,
            ..self.target.pass_desc()
        };
        let spirv = ash::util::read_spv(&mut Cursor::new(LEVELS))?;
        let by_level = MaterialDesc {
            fragment_spirv: &spirv,
            set_layouts: &[],
            push_bytes: 0,
        };
        let levels = PassDesc {
            shadow_map: false,
            material: Some(by_level),
            ..picture.clone()
        };
        // SAFETY: the formats are the target's, which is on the same device, and the shader of the
        // levels fits set 0.
        self.passes = Some(unsafe {
            Passes {
                picture: self.crowd.create_pass(&picture)?,
                levels: self.crowd.create_pass(&levels)?,
                shadow: self.crowd.create_pass(&ShadowImage::pass_desc())?,
            }
        });
        Ok(())
    }

    pub(crate) fn crowd(&self) -> &Crowd {
        &self.crowd
    }

    /// The crowd and its instances, for changing what they play.
    pub(crate) fn world(&mut self) -> (&mut Crowd, &[InstanceId]) {
        (&mut self.crowd, &self.ids)
    }

    /// The first instance, whose pose the overlays show.
    pub(crate) fn first(&self) -> Option<InstanceId> {
        self.ids.first().copied()
    }

    pub(crate) fn instances(&self) -> usize {
        self.ids.len()
    }

    /// The image that holds the picture, and its view.
    pub(crate) fn picture(&self) -> (vk::Image, vk::ImageView) {
        self.target.color()
    }

    /// Shows this character, with the instances and the skinning of the settings.
    ///
    /// The device is idle afterwards.
    pub(crate) fn show(
        &mut self,
        context: &mut Context,
        subject: &Subject,
        settings: &Settings,
        playback: &Playback,
    ) -> Result<()> {
        let character = &subject.character;
        let desc = CharacterDesc {
            method: settings.method,
            cpu_skinning: settings.stage == SkinningStage::Cpu,
            ..CharacterDesc::default()
        };
        let count = settings.instances;
        let capacity = Capacity::new(3).with_character(character, &desc, count, settings.stage)?;
        check_memory(context, &capacity)?;
        context.wait_idle()?;
        self.clear()?;
        let allocator = &mut context.allocator();
        let added = self.crowd.add_character(allocator, character, &desc)?;
        self.character = Some(added);
        // The ground may need a place, too.
        let needed = self
            .crowd
            .needed_capacity(&[(added, count + 1, settings.stage)])?;
        self.crowd.reserve(allocator, &needed)?;
        let places = places(subject.bounds, count);
        self.bounds = around(subject.bounds, &places);
        let (tint, second_tint) = TINTS[settings.tints];
        for at in &places {
            let spawn = Spawn {
                tint,
                second_tint,
                world_from_model: Affine3A::from_translation(vec3(at.x, 0.0, at.y)),
                skinning_stage: settings.stage,
                ..Spawn::default()
            };
            let id = self.crowd.spawn(added, &spawn)?;
            self.ids.push(id);
            self.crowd.instance_mut(id)?.set_view_mask(PEOPLE);
            self.crowd
                .instance_mut(id)?
                .set_root_motion(RootMotionMode::Ignore);
        }
        self.surround(context, settings)?;
        self.renew_lens(context, Some(character))?;
        playback.apply(self.world())?;
        Ok(())
    }

    /// Removes the instances and the character. The device must be idle.
    fn clear(&mut self) -> Result<()> {
        self.deformed = None;
        for id in self.ids.drain(..) {
            self.crowd.despawn(id)?;
        }
        if let Some(ground) = self.ground.take() {
            self.crowd.despawn(ground.id)?;
            self.crowd.remove_character(ground.character)?;
        }
        if let Some(character) = self.character.take() {
            self.crowd.remove_character(character)?;
        }
        Ok(())
    }

    /// Creates the ground and the shadow map for the present bounds. The device is idle.
    fn surround(&mut self, context: &mut Context, settings: &Settings) -> Result<()> {
        let (low, high) = (self.bounds.min, self.bounds.max);
        let height = (high.y - low.y).max(1e-3);
        let reach = 300.0 * height.max(high.x - low.x).max(high.z - low.z);
        let height_m = low.y - 0.003 * height;
        let (ground, cell_m) = ground(reach, height)?;
        let allocator = &mut context.allocator();
        let character = self
            .crowd
            .add_character(allocator, &ground, &CharacterDesc::default())?;
        let more = [(character, 1, SkinningStage::Vertex)];
        let needed = self.crowd.needed_capacity(&more)?;
        self.crowd.reserve(allocator, &needed)?;
        let id = self.crowd.spawn(character, &Spawn::default())?;
        self.ground = Some(Ground {
            character,
            id,
            height_m,
            cell_m,
        });
        self.crowd.instance_mut(id)?.set_view_mask(GROUND);
        if let Some(shadow) = self.shadow.take() {
            shadow.destroy(context);
        }
        // Each frame aims it.
        let lighting = settings.light.lighting();
        let shadow = ShadowImage::new(context, SHADOW_TEXELS, (&[], 0.0), &lighting)?;
        self.has_map = false;
        let map = self.shadow.insert(shadow).map();
        // SAFETY: the device is idle, and the image outlives the crowd's frames: it is destroyed
        // only when the device is idle and another map is set.
        unsafe { self.crowd.set_shadow_map(&map)? };
        self.renew_passes()
    }

    /// Creates the passes again, for the present target.
    fn renew_passes(&mut self) -> Result<()> {
        let old = self.passes.take();
        if let Some(passes) = old {
            for pass in [passes.picture, passes.levels, passes.shadow] {
                self.crowd.remove_pass(pass)?;
            }
        }
        self.create_passes()
    }

    /// Uses other shaders from now on.
    #[cfg(feature = "shaderc")]
    pub(crate) fn set_shaders(
        &mut self,
        context: &mut Context,
        changed: super::reload::Changed,
        character: Option<&Character>,
    ) -> Result<()> {
        context.wait_idle()?;
        self.modules = changed.lens;
        self.shading = Some(changed.shading);
        self.renew_passes()?;
        self.renew_lens(context, character)
    }

    /// Creates the lens again. The device must be idle.
    fn renew_lens(&mut self, context: &mut Context, character: Option<&Character>) -> Result<()> {
        if let Some(lens) = self.lens.take() {
            lens.destroy(context);
        }
        if let Some(character) = character {
            let (crowd, pass, modules) = (&self.crowd, self.target.pass_desc(), &self.modules);
            self.lens = Some(Lens::new(context, crowd, character, &pass, modules)?);
        }
        Ok(())
    }

    /// Gives the picture another size or number of samples. If that makes another image, the device
    /// is idle afterwards, also after an error.
    pub(crate) fn resize(
        &mut self,
        context: &mut Context,
        extent: vk::Extent2D,
        multisampled: bool,
        character: Option<&Character>,
    ) -> Result<()> {
        let is_multisampled = self.is_multisampled();
        if self.target.extent() == extent && is_multisampled == multisampled {
            return Ok(());
        }
        context.wait_idle()?;
        self.target = new_target(context, extent, multisampled)?;
        if is_multisampled != multisampled {
            self.renew_passes()?;
            self.renew_lens(context, character)?;
        }
        Ok(())
    }

    /// The size of the picture.
    pub(crate) fn extent(&self) -> vk::Extent2D {
        self.target.extent()
    }

    /// Records the picture. It is then in the layout for sampling in fragment shaders.
    ///
    /// # Safety
    /// - `cmd` is recording, outside of rendering, and is submitted next.
    /// - The last work of the frame index has ended.
    pub(crate) unsafe fn record(
        &mut self,
        context: &mut Context,
        cmd: vk::CommandBuffer,
        shot: &Shot,
        settings: &Settings,
    ) -> Result<()> {
        let device = &context.device.clone();
        self.place_ground(shot)?;
        self.aim_shadow(shot);
        let (Some(passes), Some(shadow)) = (self.passes, &self.shadow) else {
            // Nothing is loaded.
            // SAFETY: as the caller guarantees.
            unsafe { self.record_empty(device, cmd, settings) };
            return Ok(());
        };
        let cast = settings.shadow.then(|| shadow.shadow());
        // Without an error, a chosen level is shown however small it is.
        let chosen = |detail: Detail| Detail {
            error_px: if settings.level.is_some() {
                0.0
            } else {
                detail.error_px
            },
            level: settings.level,
            ..detail
        };
        let people = View {
            mask: PEOPLE,
            shadow: cast,
            detail: chosen(shot.view.detail),
            ..shot.view
        };
        let ground = View {
            mask: GROUND,
            ..people
        };
        let sun = shadow.view();
        let from_sun = View {
            mask: PEOPLE,
            detail: chosen(sun.detail),
            ..sun
        };
        self.crowd.update(shot.time_s)?;
        self.events.clear();
        self.events.extend(self.crowd.events());
        // SAFETY: as the caller guarantees.
        unsafe {
            let allocator = &mut context.allocator();
            let begun = self
                .crowd
                .begin_frame(allocator, shot.frame_index, shot.time_s);
            let mut frame = begun?;
            let views = frame.record_prepare(cmd, &[people, ground, from_sun])?;
            // Shaders refer to a new map even if it has no layers in use, so it needs its layout.
            if settings.shadow || !self.has_map {
                shadow.begin(device, cmd);
                frame.record_draw(cmd, views[2], passes.shadow)?;
                shadow.end(device, cmd);
            }
            self.target.begin(device, cmd, &begin(settings.background));
            // The crowd does not count draws of other pipelines.
            let mut by_lens = Stats::default();
            match (settings.look, &self.lens, self.character) {
                (Look::Shaded, ..) | (_, None, _) | (_, _, None) => {
                    frame.record_draw(cmd, views[0], passes.picture)?;
                }
                (Look::Levels, ..) => frame.record_draw(cmd, views[0], passes.levels)?,
                (look, Some(lens), Some(character)) => {
                    let joint = settings.joint.map_or(u32::MAX, |joint| joint.0.into());
                    let scope = frame.begin_scope(cmd, "draw");
                    let view = (&frame, views[0]);
                    let shown = (character, settings.level.unwrap_or(0));
                    lens.record((device, cmd), view, shown, (look, joint), &mut by_lens)?;
                    frame.end_scope(cmd, scope);
                }
            }
            if settings.ground {
                frame.record_draw(cmd, views[1], passes.picture)?;
            }
            self.target.end(device, cmd);
            sampled(device, cmd, self.target.color().0);
            self.has_map = true;
            self.stats = frame.stats();
            self.shown = frame.view_stats().first().copied().unwrap_or_default();
            self.stats.draws += by_lens.draws;
            self.stats.triangles += by_lens.triangles;
            self.times = times(&self.stats, &frame);
            self.deformed = self.ids.first().and_then(|id| deformed(&frame, *id));
        }
        Ok(())
    }

    /// Moves the ground below the character that the camera follows, by whole cells of its grid.
    fn place_ground(&mut self, shot: &Shot) -> Result<()> {
        let Some(ground) = self.ground else {
            return Ok(());
        };
        let cells = (shot.followed / ground.cell_m).round();
        let at = (cells * ground.cell_m).with_y(ground.height_m);
        let at = Affine3A::from_translation(at);
        let mut instance = self.crowd.instance_mut(ground.id)?;
        if instance.transform() != at {
            instance.set_transform(&at)?;
        }
        Ok(())
    }

    /// Lets the shadow map cover everything that casts a shadow, and its shadow on the ground.
    fn aim_shadow(&mut self, shot: &Shot) {
        let (Some(shadow), Some(ground)) = (&mut self.shadow, self.ground) else {
            return;
        };
        let sun = shot.view.lighting.sun_direction;
        let fall_m = (shot.cast.max.y - ground.height_m).max(0.0) / sun.y.max(LOWEST_SUN);
        shadow.aim(&corners(shot.cast), fall_m, sun);
    }

    /// Records an empty picture.
    ///
    /// # Safety
    /// As [`Self::record`].
    pub(crate) unsafe fn record_empty(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        settings: &Settings,
    ) {
        // SAFETY: the caller guarantees that `cmd` is recording, outside of rendering.
        unsafe {
            self.target.begin(device, cmd, &begin(settings.background));
            self.target.end(device, cmd);
            sampled(device, cmd, self.target.color().0);
        }
    }

    /// Takes a recorded frame back.
    ///
    /// # Safety
    /// Nothing that was recorded for it is ever submitted.
    pub(crate) unsafe fn abandon(&mut self) {
        // The map may not have been drawn.
        self.has_map = false;
        // SAFETY: as the caller guarantees.
        unsafe { self.crowd.abandon_frame() };
    }

    pub(crate) fn is_multisampled(&self) -> bool {
        self.target.pass_desc().samples != vk::SampleCountFlags::TYPE_1
    }

    /// Waits for the device, and destroys everything.
    pub(crate) fn destroy(self, context: &mut Context) -> Result<()> {
        let idle = context.wait_idle();
        // SAFETY: the device is idle, or lost.
        unsafe { self.crowd.destroy(&mut context.allocator()) };
        if let Some(lens) = self.lens {
            lens.destroy(context);
        }
        if let Some(shadow) = self.shadow {
            shadow.destroy(context);
        }
        Ok(idle?)
    }
}

/// A plane with a grid that reaches this far, and the edge of the grid's cells. `size_m` is the
/// height of the character.
fn ground(reach_m: f32, size_m: f32) -> Result<(Character, f32)> {
    /// Edge of the texture, and the width of a line, in texels.
    const EDGE: u32 = 128;
    const LINE: u32 = 2;
    /// Brightness, sRGB encoded.
    const PLAIN: [u8; 4] = [136, 142, 150, 255];
    const LINES: [u8; 4] = [116, 122, 130, 255];
    let cell_m = 10.0_f32.powf(size_m.log10().round());
    let texel = |at: u32| match at % EDGE < LINE || at / EDGE < LINE {
        true => LINES,
        false => PLAIN,
    };
    let texels = (0..EDGE * EDGE).flat_map(texel).collect();
    let mut plane = RawPrimitive::cuboid(vec3(2.0 * reach_m, 0.0, 2.0 * reach_m));
    for (uv, at) in plane.uvs.iter_mut().zip(&plane.positions) {
        *uv = Vec2::new(at.x, at.z) / cell_m;
    }
    // The upper side is enough.
    let first = plane.normals.iter().position(|normal| *normal == Vec3::Y);
    let first = first.unwrap_or(0) as u32;
    plane
        .indices
        .retain(|index| (first..first + 4).contains(index));
    let matt = Material {
        metallic: 0.0,
        roughness: 0.9,
        base_color_texture: Some(TextureRef::new(0)),
        ..Material::default()
    };
    let raw = RawCharacter {
        images: vec![Image::new("grid", EDGE, EDGE, texels)],
        ..RawCharacter::rigid("ground", vec![plane], vec![matt])
    };
    Ok((raw.build(&ImportOptions::default())?.character, cell_m))
}
