//! The program's own shading.

use crate::made;
use crate::support::{
    DEPTH, SIDES, SIZE, Target, adapter, camera, desc, descriptor, gpu, messages, pass_desc, read,
    read_layer, texture, whole,
};
use throng::glam::{Affine3A, Vec3};
use throng::mesh::Material;
use throng::{CharacterDesc, InstanceId, Lighting, PassId, PassKind, Spawn, Stages};
use throng_reference::picture::{covered, different};
use throng_wgpu::{
    BindGroup, BindGroupLayout, Binding, Crowd, Encoder, Error, Gpu, MaterialDesc, PassDesc, throng,
};
use wgpu::util::{DeviceExt, TextureDataOrder};

const PBR: &str = include_str!("pbr.wgsl");

fn entry(binding: u32, ty: wgpu::BindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty,
        count: None,
    }
}

fn layout(gpu: &Gpu, entries: &[wgpu::BindGroupLayoutEntry]) -> BindGroupLayout {
    let desc = wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries,
    };
    BindGroupLayout::new(gpu, &desc).unwrap()
}

const LIGHTS: wgpu::BindingType = wgpu::BindingType::Buffer {
    ty: wgpu::BufferBindingType::Uniform,
    has_dynamic_offset: true,
    min_binding_size: None,
};
const TEXTURE: wgpu::BindingType = wgpu::BindingType::Texture {
    sample_type: wgpu::TextureSampleType::Float { filterable: true },
    view_dimension: wgpu::TextureViewDimension::D2,
    multisampled: false,
};
const SAMPLER: wgpu::BindingType = wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering);

/// The resources that the shader of `pbr.wgsl` reads: lights at an offset, and a white texture.
struct Own {
    layouts: [BindGroupLayout; 2],
    lights: BindGroup,
    glow: BindGroup,
}

/// The second of two lights in the buffer.
const OFFSET: u32 = 256;

impl Own {
    fn new(gpu: &Gpu) -> Self {
        let layouts = [
            layout(gpu, &[entry(0, LIGHTS)]),
            layout(gpu, &[entry(3, TEXTURE), entry(1, SAMPLER)]),
        ];
        let light = Lighting::default();
        let lights = [
            light.sun_direction,
            light.sun_color,
            light.sky_color,
            light.ground_color,
        ];
        let lights = lights.map(|it| it.extend(0.0).to_array().map(f32::to_ne_bytes));
        let mut bytes = vec![0xFF; OFFSET as usize];
        bytes.extend(lights.as_flattened().as_flattened());
        let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes.len() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        gpu.queue().write_buffer(&buffer, 0, &bytes);
        let lights = Binding::Buffer(wgpu::BufferBinding {
            buffer: &buffer,
            offset: 0,
            size: wgpu::BufferSize::new(64),
        });
        let white = gpu.device().create_texture_with_data(
            gpu.queue(),
            &wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d::default(),
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: wgpu::TextureFormat::Rgba8Unorm,
                usage: wgpu::TextureUsages::TEXTURE_BINDING,
                view_formats: &[],
            },
            TextureDataOrder::LayerMajor,
            &[255; 4],
        );
        let glow = [
            (3, Binding::TextureView(&whole(&white))),
            (1, Binding::Sampler(wgpu::SamplerDescriptor::default())),
        ];
        Self {
            lights: BindGroup::new(gpu, &layouts[0], &[(0, lights)]).unwrap(),
            glow: BindGroup::new(gpu, &layouts[1], &glow).unwrap(),
            layouts,
        }
    }

    fn groups(&self) -> [(&BindGroup, &[u32]); 2] {
        [(&self.lights, &[OFFSET]), (&self.glow, &[])]
    }

    fn material<'a>(&self, layouts: &'a [&'a BindGroupLayout]) -> MaterialDesc<'a> {
        MaterialDesc {
            entry_point: Some("shade"),
            constants: &[("EXPOSURE", 1.0)],
            bind_group_layouts: layouts,
            ..MaterialDesc::new(PBR)
        }
    }
}

/// A crowd of balls with all features of materials, in front of the camera.
fn board(gpu: &Gpu, stages: Stages) -> Crowd {
    let mut crowd = Crowd::new(gpu, &desc(2, stages)).unwrap();
    let mut balls = made::balls();
    let team = Material {
        tint_weights: [0.75, 1.0],
        tint_mask: Some(made::sharp(0)),
        tint_reference: [0.5; 3],
        ..Material::flat([0.5, 0.5, 0.5, 1.0])
    };
    balls.push((made::ball(), team));
    for (at, (part, material)) in balls.into_iter().enumerate() {
        let made = made::character(vec![part], vec![material], made::images());
        let id = crowd
            .add_character(&made.character, &CharacterDesc::default())
            .unwrap();
        let place = Vec3::new((at % 6) as f32 - 2.5, (at / 6) as f32 + 0.3, 0.0);
        let scale = Affine3A::from_scale(Vec3::splat(0.45));
        let spawn = Spawn {
            world_from_model: Affine3A::from_translation(place) * scale,
            tint: [1.0, 0.8, 0.6, 1.0],
            second_tint: [0.2, 0.4, 0.9],
            user_data: 51,
            ..Spawn::default()
        };
        crowd.spawn(id, &spawn).unwrap();
    }
    crowd
}

/// Draws a frame: depth with a prepass, if there is one, then colour with own groups.
fn draw(
    crowd: &mut Crowd,
    target: &Target,
    (prepass, pass): (Option<PassId>, PassId),
    groups: &[(&BindGroup, &[u32])],
) -> Vec<u8> {
    let gpu = crowd.gpu().clone();
    let mut encoder = Encoder::new(&gpu);
    let mut frame = crowd.begin_frame(0.0).unwrap();
    let views = frame.prepare(&[camera(SIZE)]).unwrap();
    let (color, depth) = (whole(&target.color), whole(&target.depth));
    let samples = target.samples.as_ref().map(whole);
    let mut colors = Vec::new();
    let mut desc = descriptor(&mut colors, (&color, samples.as_ref(), &depth), true);
    if let Some(prepass) = prepass {
        let only_depth = wgpu::RenderPassDescriptor {
            color_attachments: &[],
            ..desc.clone()
        };
        frame
            .draw(&mut encoder, views[0], prepass, &only_depth)
            .unwrap();
        desc.depth_stencil_attachment.as_mut().unwrap().depth_ops = Some(wgpu::Operations {
            load: wgpu::LoadOp::Load,
            store: wgpu::StoreOp::Store,
        });
    }
    frame
        .draw_with(&mut encoder, views[0], pass, &desc, groups)
        .unwrap();
    encoder.submit().unwrap();
    read(&gpu, &target.color)
}

/// All features of materials, from WGSL as from the built-in shader. The arithmetic is the same, so
/// only the last bit of a colour may differ.
#[test]
fn reads_surfaces_as_the_built_in_shading_does() {
    for (stages, samples, prepass) in [
        (SIDES[0], 1, false),
        (SIDES[1], 4, false),
        (SIDES[0], 1, true),
    ] {
        let gpu = gpu();
        let own = Own::new(&gpu);
        let mut crowd = board(&gpu, stages);
        let depth = PassDesc {
            kind: PassKind::Depth,
            color_formats: &[],
            ..pass_desc(samples)
        };
        let built_in = PassDesc {
            after_prepass: prepass.then_some(wgpu::CompareFunction::Equal),
            ..pass_desc(samples)
        };
        let layouts = own.layouts.each_ref();
        let with = PassDesc {
            material: Some(own.material(&layouts)),
            ..built_in.clone()
        };
        let first = prepass.then(|| crowd.create_pass(&depth).unwrap());
        let [built_in, with] = [built_in, with].map(|it| crowd.create_pass(&it).unwrap());
        let target = Target::new(&gpu, SIZE, samples);
        let wanted = draw(&mut crowd, &target, (first, built_in), &[]);
        let drawn = draw(&mut crowd, &target, (first, with), &own.groups());
        assert!(covered(&wanted) > 5000, "{}", covered(&wanted));
        std::fs::write(format!("/tmp/wanted{samples}{prepass}.rgba"), &wanted).unwrap();
        std::fs::write(format!("/tmp/drawn{samples}{prepass}.rgba"), &drawn).unwrap();
        eprintln!(
            "{:?}",
            [0, 1, 2, 4, 8, 32].map(|by| different(&wanted, &drawn, by))
        );
        assert_eq!(
            different(&wanted, &drawn, 1),
            0,
            "{stages:?} {samples} {prepass}"
        );
        drop((crowd, target, own, gpu));
        messages::expect_none();
    }
}

/// A crowd with one square in front of the camera.
fn square(gpu: &Gpu) -> (Crowd, InstanceId) {
    let mut crowd = Crowd::new(gpu, &desc(2, Stages::default())).unwrap();
    let made = made::character(vec![made::square()], Vec::new(), Vec::new());
    let id = crowd
        .add_character(&made.character, &CharacterDesc::default())
        .unwrap();
    let spawn = Spawn {
        world_from_model: Affine3A::from_translation(Vec3::Y * 1.5),
        tint: [0.0, 0.4, 0.0, 1.0],
        user_data: 51,
        ..Spawn::default()
    };
    let instance = crowd.spawn(id, &spawn).unwrap();
    (crowd, instance)
}

/// A pass into a format without a transfer function.
fn linear<'a>(material: MaterialDesc<'a>) -> PassDesc<'a> {
    PassDesc {
        color_formats: &[Some(LINEAR)],
        material: Some(material),
        ..pass_desc(1)
    }
}

const LINEAR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

fn linear_target(gpu: &Gpu) -> Target {
    Target {
        color: texture(gpu, LINEAR, SIZE, 1),
        ..Target::new(gpu, SIZE, 1)
    }
}

/// The colour in the middle of a picture.
fn middle(picture: &[u8]) -> [u8; 4] {
    let at = (96 * 192 + 96) * 4;
    picture[at..at + 4].try_into().unwrap()
}

/// The shader gets the user word, the tint and the light of the view.
#[test]
fn gets_what_an_instance_and_a_view_have() {
    let gpu = gpu();
    let (mut crowd, instance) = square(&gpu);
    let wgsl = "@fragment fn shade(in: ThrongIn) -> @location(0) vec4f {
        let level = f32(throng_level());
        return vec4f(f32(in.user) / 255.0, in.color.g, throng_lighting().sun_color.b + level, 1.0);
    }";
    let pass = crowd.create_pass(&linear(MaterialDesc::new(wgsl))).unwrap();
    let target = linear_target(&gpu);
    let blue = (Lighting::default().sun_color.z * 255.0).min(255.0) as u8;
    for user in [51, 204] {
        crowd.instance_mut(instance).unwrap().set_user_data(user);
        let drawn = middle(&draw(&mut crowd, &target, (None, pass), &[]));
        assert_eq!(drawn, [user as u8, 102, blue, 255]);
    }
    drop((crowd, target, gpu));
    messages::expect_none();
}

/// A buffer of the program has what was written before a draw: by the queue, and by commands
/// between two draws. The groups and their resources are dropped before the draws have ended.
#[test]
fn reads_what_was_written_before() {
    let gpu = gpu();
    let (mut crowd, _) = square(&gpu);
    let uniform = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Storage { read_only: true },
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let layout = layout(&gpu, &[entry(7, uniform)]);
    let wgsl = "@group(1) @binding(7) var<storage> colors: array<vec4f>;
        @fragment fn shade(in: ThrongIn) -> @location(0) vec4f { return colors[in.user]; }";
    let material = MaterialDesc {
        bind_group_layouts: &[&layout],
        ..MaterialDesc::new(wgsl)
    };
    let pass = crowd.create_pass(&linear(material)).unwrap();
    let targets = [(); 2].map(|()| linear_target(&gpu));
    let buffer = |usage| {
        gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            // Fewer than the index of the instance: the last one is read then.
            size: 32,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    };
    let colors = buffer(wgpu::BufferUsages::STORAGE);
    let staged = buffer(wgpu::BufferUsages::COPY_SRC);
    let bytes = |color: [f32; 4]| color.map(f32::to_ne_bytes).as_flattened().repeat(2);
    gpu.queue()
        .write_buffer(&colors, 0, &bytes([1.0, 0.0, 0.0, 1.0]));
    gpu.queue()
        .write_buffer(&staged, 0, &bytes([0.0, 1.0, 0.0, 1.0]));
    let all = Binding::Buffer(colors.as_entire_buffer_binding());
    let group = BindGroup::new(&gpu, &layout, &[(7, all)]).unwrap();
    let mut encoder = Encoder::new(&gpu);
    let mut frame = crowd.begin_frame(0.0).unwrap();
    let views = frame.prepare(&[camera(SIZE)]).unwrap();
    for target in &targets {
        let (color, depth) = (whole(&target.color), whole(&target.depth));
        let mut attachments = Vec::new();
        let desc = descriptor(&mut attachments, (&color, None, &depth), true);
        frame
            .draw_with(&mut encoder, views[0], pass, &desc, &[(&group, &[])])
            .unwrap();
        encoder.copy_buffer_to_buffer(&staged, 0, &colors, 0, 32);
    }
    crowd.remove_pass(pass).unwrap();
    drop((group, layout, colors, staged));
    encoder.submit().unwrap();
    let drawn = targets.each_ref().map(|it| middle(&read(&gpu, &it.color)));
    assert_eq!(drawn, [[255, 0, 0, 255], [0, 255, 0, 255]]);
    drop((crowd, targets, gpu));
    messages::expect_none();
}

/// In a pass for two eyes, the shader has the eye, and surfaces their own direction to it.
#[test]
fn knows_the_eye() {
    let wgsl = "@fragment fn shade(in: ThrongIn) -> @location(0) vec4f {
        let to_eye = throng_surface(in).to_eye;
        return vec4f(f32(in.eye), to_eye.x * 0.5 + 0.5, 0.0, 1.0);
    }";
    let desc_of_device = wgpu::DeviceDescriptor {
        required_features: wgpu::Features::MULTIVIEW,
        required_limits: wgpu::Limits {
            max_multiview_view_count: 2,
            ..wgpu::Limits::default()
        },
        ..Default::default()
    };
    let gpu = Gpu::open(&adapter(), &desc_of_device).unwrap();
    let (mut crowd, _) = square(&gpu);
    let mask = core::num::NonZeroU32::new(0b11);
    let pass = crowd.create_pass(&PassDesc {
        depth_format: None,
        multiview_mask: mask,
        ..linear(MaterialDesc::new(wgsl))
    });
    let pass = pass.unwrap();
    let layers = wgpu::Extent3d {
        depth_or_array_layers: 2,
        ..SIZE
    };
    let target = texture(&gpu, LINEAR, layers, 1);
    let mut stereo = camera(SIZE);
    // Where both eyes see the square, but one of them counts as far to the right.
    let right = stereo.eye.position + Vec3::X * 40.0;
    stereo.more_eyes[0] = Some(throng::Eye::new(stereo.eye.clip_from_world, right));
    let mut encoder = Encoder::new(&gpu);
    let mut frame = crowd.begin_frame(0.0).unwrap();
    let views = frame.prepare(&[stereo]).unwrap();
    let view = whole(&target);
    let color_attachments = [Some(wgpu::RenderPassColorAttachment {
        view: &view,
        depth_slice: None,
        resolve_target: None,
        ops: wgpu::Operations::default(),
    })];
    let desc = wgpu::RenderPassDescriptor {
        color_attachments: &color_attachments,
        multiview_mask: mask,
        ..Default::default()
    };
    frame.draw(&mut encoder, views[0], pass, &desc).unwrap();
    encoder.submit().unwrap();
    let [left, right] = [0, 1].map(|layer| middle(&read_layer(&gpu, &target, layer)));
    assert_eq!((left[0], right[0]), (0, 255));
    assert!(left[1] < 170 && right[1] > 240, "{left:?} {right:?}");
    drop((crowd, target, gpu));
    messages::expect_none();
}

/// Each row: the shader, and a part of the message.
const FAULTS: [(&str, &str); 8] = [
    // The line is that of the program's text.
    (
        "\n\n@fragment fn f() -> @location(0) vec4f { return 1; }",
        ":3:",
    ),
    (
        "@fragment fn f() -> @location(0) vec4u { return vec4u(); }",
        "format",
    ),
    (
        "@fragment fn f(@location(9) a: f32) -> @location(0) vec4f { return vec4f(a); }",
        "9",
    ),
    (
        "@group(1) @binding(2) var<uniform> a: vec4f;
         @fragment fn f() -> @location(0) vec4f { return a; }",
        "binding",
    ),
    (
        "@group(2) @binding(0) var<uniform> a: vec4f;
         @fragment fn f() -> @location(0) vec4f { return a; }",
        "roup",
    ),
    (
        "@group(0) @binding(0) var<uniform> a: vec4f;
         @fragment fn f() -> @location(0) vec4f { return a; }",
        "roup",
    ),
    (
        "@fragment fn f() -> @location(0) vec4f { return throng_view.eye; }",
        "throng_view",
    ),
    ("fn f() {}", "entry point"),
];

#[test]
fn shaders_that_do_not_fit_are_refused() {
    let gpu = gpu();
    let (mut crowd, _) = square(&gpu);
    let lights = layout(&gpu, &[entry(0, TEXTURE)]);
    let mut refuse = |wgsl| {
        let material = MaterialDesc {
            bind_group_layouts: &[&lights],
            ..MaterialDesc::new(wgsl)
        };
        crowd.create_pass(&linear(material)).unwrap_err()
    };
    for (wgsl, part) in FAULTS {
        let why = refuse(wgsl);
        let text = format!("{why:?} {why}");
        assert!(matches!(why, Error::Rejected { .. }), "{wgsl}: {why}");
        assert!(text.contains(part), "{wgsl}: {text}");
    }
    // Without a fault of its own: only the name is taken.
    let why = refuse(
        "fn throng_slot() {}
         @fragment fn f(in: ThrongIn) -> @location(0) vec4f { throng_slot(); return in.uv; }",
    );
    assert!(matches!(why, Error::Shader(_)), "{why}");
    assert!(why.to_string().contains("throng_slot"), "{why}");
    let why = refuse("@fragment fn f(in: ThrongIn) -> @location(3) vec4f { return in.uv; }");
    assert!(matches!(why, Error::Shader(_)), "{why}");
    assert!(why.to_string().contains("@location(0)"), "{why}");
    messages::expect_none();
}

fn glowing<'a>(layouts: &'a [&'a BindGroupLayout]) -> MaterialDesc<'a> {
    let wgsl = "@group(1) @binding(0) var glow: texture_2d<f32>;
        @fragment fn f(in: ThrongIn) -> @location(0) vec4f {
            return in.color * textureLoad(glow, vec2u(), 0);
        }";
    MaterialDesc {
        bind_group_layouts: layouts,
        ..MaterialDesc::new(wgsl)
    }
}

#[test]
fn passes_and_groups_that_do_not_fit_are_refused() {
    let (gpu, other) = (gpu(), gpu());
    let (mut crowd, _) = square(&gpu);
    let own = layout(&gpu, &[entry(0, TEXTURE)]);
    let others = layout(&other, &[entry(0, TEXTURE)]);
    let layouts = [&own];
    let shadow = PassDesc {
        kind: PassKind::Shadow,
        color_formats: &[],
        ..linear(glowing(&layouts))
    };
    let why = crowd.create_pass(&shadow).unwrap_err();
    assert!(why.to_string().contains("PassDesc::material"), "{why}");
    let why = crowd.create_pass(&linear(glowing(&[&others]))).unwrap_err();
    assert!(matches!(why, Error::OtherDevice { .. }), "{why}");
    let many = [&own; 8];
    let why = crowd.create_pass(&linear(glowing(&many))).unwrap_err();
    assert!(matches!(why, Error::Limit { asked: 9, .. }), "{why}");
    let array = wgpu::BindGroupLayoutEntry {
        count: core::num::NonZeroU32::new(4),
        ..entry(3, TEXTURE)
    };
    let why = BindGroupLayout::new(
        &gpu,
        &wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[array],
        },
    );
    assert!(
        matches!(why, Err(Error::Binding { binding: 3, .. })),
        "{why:?}"
    );

    let target = linear_target(&gpu);
    let sampled = gpu.device().create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: SIZE,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: LINEAR,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    let view = whole(&sampled);
    let group = |layout, bindings: &[(u32, Binding<'_>)]| BindGroup::new(&gpu, layout, bindings);
    let texture = Binding::TextureView(&view);
    let good = group(&own, &[(0, texture.clone())]).unwrap();
    let why = group(&others, &[(0, texture.clone())]).unwrap_err();
    assert!(matches!(why, Error::OtherDevice { .. }), "{why}");
    let foreign = whole(&crate::support::texture(&other, DEPTH, SIZE, 1));
    let why = group(&own, &[(0, Binding::TextureView(&foreign))]).unwrap_err();
    assert!(
        matches!(why, Error::OtherDevice { .. } | Error::Rejected { .. }),
        "{why}"
    );
    let sampler = Binding::Sampler(wgpu::SamplerDescriptor::default());
    for bindings in [&[][..], &[(1, texture.clone())], &[(0, sampler)]] {
        let why = group(&own, bindings).unwrap_err();
        assert!(matches!(why, Error::Rejected { .. }), "{why}");
    }

    let pass = crowd.create_pass(&linear(glowing(&[&own]))).unwrap();
    let empty = layout(&gpu, &[]);
    let empty = group(&empty, &[]).unwrap();
    let mut encoder = Encoder::new(&gpu);
    let mut frame = crowd.begin_frame(0.0).unwrap();
    let views = frame.prepare(&[camera(SIZE)]).unwrap();
    let depth = whole(&target.depth);
    let mut refuse = |color: &wgpu::TextureView, groups: &[(&BindGroup, &[u32])]| {
        let mut colors = Vec::new();
        let desc = descriptor(&mut colors, (color, None, &depth), true);
        let drawn = frame.draw_with(&mut encoder, views[0], pass, &desc, groups);
        match drawn {
            Err(why) => why,
            Ok(()) => panic!("{groups:?}"),
        }
    };
    let color = whole(&target.color);
    let none = Error::BindGroups {
        expected: 1,
        given: 0,
    };
    assert_eq!(refuse(&color, &[]).to_string(), none.to_string());
    for (color, group, offsets) in [
        (&color, &empty, &[][..]),
        (&color, &good, &[0]),
        // It is drawn into and sampled.
        (&view, &good, &[]),
    ] {
        let why = refuse(color, &[(group, offsets)]);
        assert!(matches!(why, Error::Rejected { .. }), "{why}");
    }
    sampled.destroy();
    let why = refuse(&color, &[(&good, &[])]);
    assert!(matches!(why, Error::Destroyed(_)), "{why}");
    let why = group(&own, &[(0, texture)]).unwrap_err();
    assert!(matches!(why, Error::Rejected { .. }), "{why}");
    messages::expect_none();
}

/// Samplers have a limit, and those that are dropped do not count.
#[test]
fn samplers_are_limited() {
    let gpu = gpu();
    let layout = layout(&gpu, &[entry(0, SAMPLER)]);
    let sampler = Binding::Sampler(wgpu::SamplerDescriptor::default());
    for _ in 0..2 {
        let made: Vec<_> = (0..BindGroup::MAX_SAMPLERS)
            .map(|_| BindGroup::new(&gpu, &layout, &[(0, sampler.clone())]).unwrap())
            .collect();
        let why = BindGroup::new(&gpu, &layout, &[(0, sampler.clone())]).unwrap_err();
        let limit = u64::from(BindGroup::MAX_SAMPLERS);
        assert!(
            matches!(why, Error::Limit { asked, .. } if asked == limit + 1),
            "{why}"
        );
        drop(made);
    }
    messages::expect_none();
}
