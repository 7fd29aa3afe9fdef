//! The crowd, the ground and the shadow on the device, and the picture that they are drawn into.

use throng::animator::RootMotionMode;
use throng::ash::{self, vk};
use throng::character::Character;
use throng::glam::{Affine3A, Vec3, vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::mesh::{Aabb, Material};
use throng::standalone::{Context, Target};
use throng::{
    AnimationEvent, Capacity, CharacterDesc, CharacterId, Crowd, CrowdDesc, InstanceId, Lighting,
    MaterialDesc, PassDesc, PassId, SkinningStage, Spawn, Stats, Threads, View,
};

use super::Result;
use super::args::Look;
use super::canvas::{DEPTH, begin, new_target, sampled};
use super::figures::{Deformed, Times, deformed, times};
use super::grid::{around, check_memory, places};
use super::lens::{Lens, Modules};
use super::playback::Playback;
use super::settings::Settings;
use super::shadow::ShadowImage;
use super::subject::Subject;

/// Number of frames in flight.
pub(crate) const FRAMES_IN_FLIGHT: u32 = 2;
const GROUND_COLOR: [f32; 4] = [0.20, 0.22, 0.25, 1.0];
const SHADOW_TEXELS: u32 = 2048;
/// Bits of the view masks.
const PEOPLE: u32 = 1;
const GROUND: u32 = 2;
/// The lighting of all views.
pub(crate) fn lighting() -> Lighting {
    Lighting {
        sun_direction: vec3(0.45, 0.85, 0.6),
        sun_color: Vec3::splat(1.05),
        sky_color: vec3(0.42, 0.46, 0.54),
        ground_color: vec3(0.24, 0.22, 0.20),
    }
}

/// A picture to draw: its view, and the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shot {
    pub(crate) view: View,
    pub(crate) time_s: f64,
    pub(crate) frame_index: u32,
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
    ground: Option<(CharacterId, InstanceId)>,
    character: Option<CharacterId>,
    ids: Vec<InstanceId>,
    target: Target,
    /// The box around all instances.
    pub(crate) bounds: Aabb,
    pub(crate) events: Vec<AnimationEvent<InstanceId>>,
    pub(crate) times: Times,
    pub(crate) stats: Stats,
    pub(crate) deformed: Option<Deformed>,
}

#[derive(Clone, Copy)]
struct Passes {
    picture: PassId,
    shadow: PassId,
}

impl Scene {
    /// Creates an empty scene with a picture of this size.
    ///
    /// # Errors
    /// Those of the device.
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
            profile: context.timestamp_bits > 0,
            ..CrowdDesc::default()
        };
        let made = Modules::built().and_then(|modules| {
            // SAFETY: the context outlives the crowd.
            let device = unsafe { context.gpu_device() };
            let crowd = Crowd::new(&device, &mut context.allocator(), &desc)?;
            Ok((modules, crowd))
        });
        let (modules, crowd) = match made {
            Ok(made) => made,
            Err(error) => {
                target.destroy(context);
                return Err(error);
            }
        };
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
        let formats = self.target.formats();
        let material = self.shading.as_ref().map(|words| MaterialDesc {
            fragment_spirv: words,
            set_layouts: &[],
            push_bytes: 0,
        });
        let picture = PassDesc {
            color_formats: &[formats.color],
            depth_format: DEPTH,
            samples: formats.samples,
            reversed_z: true,
            shadow_map: self.shadow.is_some() && material.is_none(),
            material,
            ..PassDesc::default()
        };
        // SAFETY: the formats are the target's, which is on the same device.
        self.passes = Some(unsafe {
            Passes {
                picture: self.crowd.create_pass(&picture)?,
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
        };
        let count = settings.instances;
        let capacity =
            Capacity::of_views(3).with_character(character, &desc, count, settings.stage)?;
        check_memory(context, &capacity)?;
        context.wait_idle()?;
        self.clear()?;
        let allocator = &mut context.allocator();
        let added = self.crowd.add_character_with(allocator, character, &desc)?;
        self.character = Some(added);
        // The ground may need a place, too.
        self.crowd
            .reserve_for(allocator, &[(added, count + 1)], settings.stage)?;
        let places = places(subject.bounds, count);
        self.bounds = around(subject.bounds, &places);
        for at in &places {
            let spawn = Spawn {
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
        self.surround(context)?;
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
        if let Some((character, id)) = self.ground.take() {
            self.crowd.despawn(id)?;
            self.crowd.remove_character(character)?;
        }
        if let Some(character) = self.character.take() {
            self.crowd.remove_character(character)?;
        }
        Ok(())
    }

    /// Creates the ground and the shadow map for the present bounds. The device is idle.
    fn surround(&mut self, context: &mut Context) -> Result<()> {
        let (low, high) = (self.bounds.min, self.bounds.max);
        let height = (high.y - low.y).max(1e-3);
        let reach = 60.0 * height.max(high.x - low.x).max(high.z - low.z);
        let thin = 0.002 * height;
        let middle = self.bounds.center().with_y(low.y - thin);
        let block = RawPrimitive::cuboid(vec3(2.0 * reach, thin, 2.0 * reach)).translated(middle);
        let matt = Material {
            metallic: 0.0,
            roughness: 0.9,
            ..Material::flat(GROUND_COLOR)
        };
        let raw = RawCharacter::rigid("ground", vec![block], vec![matt]);
        let ground = raw.build(&ImportOptions::default())?.character;
        let allocator = &mut context.allocator();
        let character = self.crowd.add_character(allocator, &ground)?;
        self.crowd
            .reserve_for(allocator, &[(character, 1)], SkinningStage::Vertex)?;
        let id = self.crowd.spawn(character, &Spawn::default())?;
        self.ground = Some((character, id));
        self.crowd.instance_mut(id)?.set_view_mask(GROUND);
        if let Some(shadow) = self.shadow.take() {
            shadow.destroy(context);
        }
        let margin = 0.3 * height;
        let corner = |x, z| vec3(x, low.y, z);
        let rim = [
            corner(low.x - margin, low.z - margin),
            corner(low.x - margin, high.z + margin),
            corner(high.x + margin, low.z - margin),
            corner(high.x + margin, high.z + margin),
        ];
        let edge = SHADOW_TEXELS;
        let shadow = ShadowImage::new(context, edge, (&rim, 1.3 * height), &lighting())?;
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
        if let Some(Passes { picture, shadow }) = old {
            self.crowd.remove_pass(picture)?;
            self.crowd.remove_pass(shadow)?;
        }
        self.create_passes()
    }

    /// Returns true if the crowd uses descriptor indexing.
    #[cfg(feature = "shaderc")]
    pub(crate) fn is_bindless(&self) -> bool {
        self.crowd.set_layout().is_bindless()
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
            let formats = self.target.formats();
            let (crowd, modules) = (&self.crowd, &self.modules);
            self.lens = Some(Lens::new(context, crowd, character, formats, modules)?);
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
        let target = new_target(context, extent, multisampled)?;
        std::mem::replace(&mut self.target, target).destroy(context);
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
        let (Some(passes), Some(shadow)) = (self.passes, &self.shadow) else {
            // Nothing is loaded.
            // SAFETY: as the caller guarantees.
            unsafe { self.record_empty(device, cmd) };
            return Ok(());
        };
        let cast = settings.shadow.then(|| shadow.shadow());
        let people = View {
            mask: PEOPLE,
            shadow: cast,
            ..shot.view
        };
        let ground = View {
            mask: GROUND,
            ..people
        };
        let from_sun = View {
            mask: PEOPLE,
            ..shadow.view()
        };
        // SAFETY: as the caller guarantees.
        unsafe {
            let allocator = &mut context.allocator();
            let begun = self
                .crowd
                .begin_frame(allocator, shot.frame_index, shot.time_s);
            let mut frame = begun?;
            self.events.clear();
            self.events.extend(frame.events());
            let views = frame.record_prepare(cmd, &[people, ground, from_sun])?;
            // Shaders refer to a new map even if it has no layers in use, so it needs its layout.
            if settings.shadow || !self.has_map {
                shadow.begin(device, cmd);
                frame.record_draw(cmd, views[2], passes.shadow)?;
                shadow.end(device, cmd);
            }
            self.target.begin(device, cmd, &begin());
            // The crowd does not count draws of other pipelines.
            let mut by_lens = Stats::default();
            match (settings.look, &self.lens, self.character) {
                (Look::Shaded, ..) | (_, None, _) | (_, _, None) => {
                    frame.record_draw(cmd, views[0], passes.picture)?;
                }
                (look, Some(lens), Some(character)) => {
                    let joint = settings.joint.map_or(u32::MAX, |joint| joint.0.into());
                    let scope = frame.begin_scope(cmd, "draw");
                    let view = (&frame, views[0]);
                    lens.record((device, cmd), view, character, (look, joint), &mut by_lens)?;
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
            self.stats.draws += by_lens.draws;
            self.stats.triangles += by_lens.triangles;
            self.times = times(&self.stats, frame.crowd());
            self.deformed = self.ids.first().and_then(|id| deformed(&frame, *id));
        }
        Ok(())
    }

    /// Records an empty picture.
    ///
    /// # Safety
    /// As [`Self::record`].
    pub(crate) unsafe fn record_empty(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        // SAFETY: the caller guarantees that `cmd` is recording, outside of rendering.
        unsafe {
            self.target.begin(device, cmd, &begin());
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
        self.target.formats().samples != vk::SampleCountFlags::TYPE_1
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
        self.target.destroy(context);
        Ok(idle?)
    }
}
