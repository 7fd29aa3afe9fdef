//! Shared code of the GPU tests.
//!
//! - a device under the validation layer,
//! - a device that notes commands,
//! - the configurations in which a crowd can be set up,
//! - drivers' missing features that are expected,
//! - frames in flight,
//! - memory in which an access outside a buffer ends the program,
//! - probes that read back the data that shaders see.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "shared by test crates that each use a part of it"
)]

pub mod depths;
pub mod exceptions;
pub mod frames;
mod gate;
pub mod lists;
pub mod memory;
pub mod noted;
pub mod own;
pub mod probe;
pub mod read_image;

pub use gate::Change;
use gate::{End, Use};
use memory::{Memory, OneEach};
use std::io::Write as _;
use std::sync::OnceLock;
use throng::ash::{self, vk};
use throng::character::Character;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Mat4, Vec3};
use throng::gpu::{Device, Features};
use throng::palette::SkinningMethod;
use throng::{
    Capacity, CharacterDesc, CharacterId, Crowd, CrowdDesc, Detail, Eye, Frame, Play, Spawn,
    Stages, Threads, View,
};
use throng_reference::precision::Grid;
use throng_reference::sweep::is_thorough;
use throng_standalone::{Context, ContextDesc, Messages, StandaloneError};

/// One configuration. The optional features of the software driver would hide the other code paths.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    pub name: &'static str,
    pub staged: bool,
    pub min_offset_alignment: u64,
    /// No optional feature is enabled on the device or passed to throng.
    pub bare: bool,
    pub profile: bool,
    /// Poses are evaluated on rayon's thread pool.
    pub rayon: bool,
}

pub const CONFIGS: [Config; 4] = [
    Config {
        name: "as the device is",
        staged: false,
        min_offset_alignment: 0,
        bare: false,
        profile: false,
        rayon: false,
    },
    Config {
        name: "staged",
        staged: true,
        min_offset_alignment: 0,
        bare: false,
        profile: true,
        rayon: true,
    },
    Config {
        name: "aligned to 256",
        staged: false,
        min_offset_alignment: 256,
        bare: false,
        profile: true,
        rayon: false,
    },
    Config {
        name: "staged, aligned to 256, without optional features",
        staged: true,
        min_offset_alignment: 256,
        bare: true,
        profile: false,
        rayon: true,
    },
];

/// A device under the validation layer, and one configuration to use it in.
pub struct Setup {
    // Dropped in this order: other tests have stopped when the context is destroyed, and continue
    // afterwards.
    in_use: Use,
    pub context: Context,
    end: End,
    pub config: Config,
    /// An allocator in place of the context's.
    own: Option<OneEach>,
}

/// Keeps the loader, the driver and the layer in memory until the process ends.
///
/// Otherwise each test's instance loads and unloads them. This takes more than twice as long as the
/// creation of the instance and the device.
pub fn keep_loaded() {
    static KEPT: OnceLock<(ash::Entry, ash::Instance)> = OnceLock::new();
    KEPT.get_or_init(|| {
        let layers = [c"VK_LAYER_KHRONOS_validation".as_ptr()];
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default()
            .application_info(&app)
            .enabled_layer_names(&layers);
        unsafe {
            let entry = ash::Entry::load().unwrap();
            let instance = entry.create_instance(&info, None).unwrap();
            (entry, instance)
        }
    });
}

impl Setup {
    pub fn new(config: Config) -> Self {
        Self::of(config, false).unwrap_or_else(|error| {
            panic!(
                "{error}\nThe GPU tests need a Vulkan 1.3 driver (Mesa's lavapipe will do) and the \
                 validation layer: run `scripts/with-vulkan cargo test`, which installs \
                 both on Debian and Ubuntu."
            )
        })
    }

    /// With ray queries, if `rays`. Fails where there is no such device.
    pub fn of(config: Config, rays: bool) -> Result<Self, StandaloneError> {
        let change = Change::begin();
        let desc = ContextDesc {
            app_name: "throng's tests",
            validation: true,
            rays,
            ..ContextDesc::default()
        };
        let context = Context::new(&desc)?;
        assert!(
            context.across_submits,
            "hazards across submissions are not checked: see .cargo/config.toml"
        );
        keep_loaded();
        drop(change);
        let (in_use, end) = Use::begin();
        Ok(Self {
            in_use,
            context,
            end,
            config,
            own: None,
        })
    }

    /// From now on, crowds have memory in which an access outside a buffer ends the program.
    pub fn guard_memory(&mut self) {
        self.own = Some(OneEach::new(self));
    }

    /// The allocator of crowds.
    pub fn allocator(&mut self) -> Memory<'_> {
        match &mut self.own {
            Some(own) => Memory::Own(own),
            None => Memory::Usual(self.context.allocator()),
        }
    }

    /// Leaks the device with everything that is alive on it.
    pub fn forget(self) {
        std::mem::forget(self.context);
        drop(self.in_use);
        drop(self.end);
    }

    /// The device as throng takes it, with the optional features of the configuration.
    pub fn device(&self) -> Device {
        self.device_of(&self.context.instance, &self.context.device)
    }

    /// As [`Self::device`], with other functions of the same instance and device, or with another
    /// device that has the same features.
    pub fn device_of(&self, instance: &ash::Instance, device: &ash::Device) -> Device {
        let enabled = if self.config.bare {
            Features::REQUIRED.union(Features::DYNAMIC_RENDERING)
        } else {
            unsafe { self.context.gpu_device() }.enabled()
        };
        unsafe { Device::new(instance, self.context.physical_device, device, enabled) }.unwrap()
    }

    /// The rounding of framebuffer coordinates on this device.
    pub fn grid(&self, extent: vk::Extent2D) -> Grid {
        let (instance, device) = (&self.context.instance, self.context.physical_device);
        let limits = unsafe { instance.get_physical_device_properties(device) }.limits;
        Grid::new(limits.sub_pixel_precision_bits, extent)
    }

    pub fn crowd_desc(&self, frames_in_flight: u32, capacity: Capacity) -> CrowdDesc {
        CrowdDesc {
            frames_in_flight,
            capacity,
            staged: self.config.staged,
            min_offset_alignment: self.config.min_offset_alignment,
            stages: stages(),
            simd_level: None,
            skinned_usage: vk::BufferUsageFlags::empty(),
            rays: None,
            profile: self.config.profile,
            threads: if self.config.rayon {
                Threads::Rayon
            } else {
                Threads::One
            },
        }
    }

    /// Adds a character to a crowd.
    pub fn add(&mut self, crowd: &mut Crowd, character: &Character) -> CharacterId {
        self.add_with(crowd, character, &CharacterDesc::default())
    }

    /// Adds a character to a crowd, as described.
    pub fn add_with(
        &mut self,
        crowd: &mut Crowd,
        character: &Character,
        desc: &CharacterDesc,
    ) -> CharacterId {
        let added = crowd.add_character(&mut self.allocator(), character, desc);
        added.unwrap()
    }

    /// Raises the capacity of a crowd.
    pub fn reserve(&mut self, crowd: &mut Crowd, capacity: &Capacity) {
        crowd.reserve(&mut self.allocator(), capacity).unwrap();
    }

    /// Begins a frame. The one before with this index must have ended on the GPU.
    pub fn begin<'a>(&mut self, crowd: &'a mut Crowd, frame_index: u32, time_s: f64) -> Frame<'a> {
        crowd.update(time_s).unwrap();
        let begun = unsafe { crowd.begin_frame(&mut self.allocator(), frame_index, time_s) };
        begun.unwrap()
    }

    pub fn crowd(&mut self, frames_in_flight: u32, capacity: Capacity) -> Crowd {
        let desc = self.crowd_desc(frames_in_flight, capacity);
        Crowd::new(&self.device(), &mut self.allocator(), &desc).unwrap()
    }

    /// A crowd whose stages run on these sides.
    pub fn crowd_with(
        &mut self,
        stages: Stages,
        frames_in_flight: u32,
        capacity: Capacity,
    ) -> Crowd {
        let desc = CrowdDesc {
            stages,
            ..self.crowd_desc(frames_in_flight, capacity)
        };
        Crowd::new(&self.device(), &mut self.allocator(), &desc).unwrap()
    }

    pub fn destroy(&mut self, crowd: Crowd) {
        self.context.wait_idle().unwrap();
        unsafe { crowd.destroy(&mut self.allocator()) };
        if let Some(own) = &mut self.own {
            assert_eq!(own.blocks, 0);
            own.release();
        }
        let report = self.context.allocator().generate_report();
        assert!(report.allocations.is_empty(), "{:?}", report.allocations);
    }
}

/// The processors of the stages cull and animate: `THRONG_STAGES` in the environment is `cpu`,
/// which is the default, `cull` if the GPU culls, or `gpu` if it poses instances, too.
pub fn stages() -> Stages {
    match std::env::var("THRONG_STAGES").as_deref() {
        Err(_) | Ok("cpu") => Stages::Cpu,
        Ok("cull") => Stages::GpuCull,
        Ok("gpu") => Stages::Gpu,
        Ok(other) => panic!("THRONG_STAGES is {other:?}, must be \"cpu\", \"cull\" or \"gpu\""),
    }
}

/// [`stages`], but the CPU poses.
pub fn posed_by_cpu() -> Stages {
    match stages() {
        Stages::Gpu => Stages::GpuCull,
        others => others,
    }
}

/// All stages that a crowd can have.
pub const SIDES: [Stages; 3] = [Stages::Cpu, Stages::GpuCull, Stages::Gpu];

/// Reports the configuration in which a test failed, and the layer's messages until then.
struct Teller(Config, Messages);

impl Drop for Teller {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("*** in the configuration: {}", self.0.name);
            for message in self.1.all().iter().take(3) {
                eprintln!("{message}");
            }
        }
    }
}

/// The configurations to run the present test in.
///
/// It is one, and with `THRONG_THOROUGH` in the environment two, with different rings, alignments
/// and threads. The test's name decides which, so that every configuration runs in some tests. With
/// the environment variable `THRONG_CONFIGURATIONS`, they are `one` alone, `another`, which does
/// not run without it, or `all` of them.
fn configs() -> impl Iterator<Item = Config> {
    let thread = std::thread::current();
    let letters = thread.name().unwrap_or_default().bytes();
    let sum: usize = letters.map(usize::from).sum();
    let [pair, others] = if sum.is_multiple_of(2) {
        [[1, 2], [0, 3]]
    } else {
        [[0, 3], [1, 2]]
    };
    let which = std::env::var("THRONG_CONFIGURATIONS").unwrap_or_default();
    let which = match which.as_str() {
        "" if is_thorough() => pair.to_vec(),
        "" | "one" => vec![pair[sum / 2 % 2]],
        "all" => vec![0, 1, 2, 3],
        "another" => vec![others[sum / 2 % 2]],
        _ => panic!("THRONG_CONFIGURATIONS is {which:?}, must be \"one\", \"another\" or \"all\""),
    };
    which.into_iter().map(|at| CONFIGS[at])
}

/// Runs a test in some of the configurations: see [`configs`].
///
/// Any message of the layer fails it, including messages at the destruction of the device.
pub fn each(test: impl FnMut(&mut Setup)) {
    each_of(configs(), test);
}

/// As [`each`], with changed configurations.
pub fn each_with(change: impl Fn(Config) -> Config, test: impl FnMut(&mut Setup)) {
    each_of(configs().map(change), test);
}

/// As [`each`], but always with the optional features of the device.
pub fn each_with_features(test: impl FnMut(&mut Setup)) {
    let bare = false;
    each_with(|config| Config { bare, ..config }, test);
}

/// As [`each_with_features`], on a device with ray queries. Where there is none, the test says so
/// and does nothing.
pub fn each_with_rays(test: impl FnMut(&mut Setup)) {
    let mut configs = configs().map(|config| Config {
        bare: false,
        ..config
    });
    let first = configs.next().map(|config| Setup::of(config, true));
    match first {
        Some(Err(error @ StandaloneError::NoDevice { .. })) => {
            let _ = writeln!(std::io::stderr(), "NOT TESTED HERE: {error}");
        }
        first => {
            let first = first.into_iter().map(Result::unwrap);
            let others = configs.map(|config| Setup::of(config, true).unwrap());
            each_setup(first.chain(others), test);
        }
    }
}

fn each_of(configs: impl Iterator<Item = Config>, test: impl FnMut(&mut Setup)) {
    each_setup(configs.map(Setup::new), test);
}

fn each_setup(setups: impl Iterator<Item = Setup>, mut test: impl FnMut(&mut Setup)) {
    for mut setup in setups {
        let config = setup.config;
        let messages = setup.context.messages.clone();
        let teller = Teller(config, messages.clone());
        test(&mut setup);
        drop(setup);
        messages.check().unwrap();
        drop(teller);
    }
}

/// A small capacity, so that tests reach its limits.
pub const SMALL: Capacity = Capacity {
    instances: 64,
    palette_entries: 4096,
    morph_weights: 4096,
    blended: 1024,
    attachments: 256,
    ..Capacity::new(4)
};

/// A character that is skinned by this method, and whose meshes the CPU may keep.
pub fn described(method: SkinningMethod, cpu_skinning: bool) -> CharacterDesc {
    CharacterDesc {
        method,
        cpu_skinning,
        ..CharacterDesc::default()
    }
}

/// A spawn at a place with something to play.
pub fn placed<'a>(world_from_model: Affine3A, play: impl Into<Play<'a>>) -> Spawn<'a> {
    Spawn {
        world_from_model,
        play: play.into(),
        ..Spawn::default()
    }
}

/// A view from `eye` towards `at`, with depth from 0 (near) to 1. Instances have poses of their
/// own.
pub fn view(eye: Vec3, at: Vec3, extent: vk::Extent2D) -> View {
    let aspect = extent.width as f32 / extent.height as f32;
    let clip_from_view = rh::proj::vulkan::perspective(0.7, aspect, 0.1, 100.0);
    let view_from_world = rh::view::look_at_mat4(eye, at, Vec3::Y);
    View {
        detail: Detail {
            pose_error_px: 0.0,
            ..Detail::default()
        },
        ..View::new(clip_from_view * view_from_world, eye, extent)
    }
}

/// The same view with depth from 1 (near) to 0.
pub fn reversed(view: &View) -> View {
    let reverse = Mat4::from_cols_array_2d(&[
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0, 1.0],
    ]);
    View {
        eye: Eye {
            clip_from_world: reverse * view.eye.clip_from_world,
            ..view.eye
        },
        ..*view
    }
}
