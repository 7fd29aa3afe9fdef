//! Targets: cleared, resolved, resumed, read back and refused.

use crate::read_image::{ImageRead, read_image};
use crate::setup::{context, finish};
use std::ffi::{CStr, c_void};
use std::sync::Mutex;
use throng::ash::{self, vk};
use throng_standalone::{Begin, Frames, StandaloneError, Target, TargetDesc};

/// Draws with `record` into a target of 40 × 24 and returns rows of RGBA.
fn draw(
    desc: &TargetDesc<'_>,
    record: impl FnOnce(&ash::Device, vk::CommandBuffer, &Target),
) -> Vec<u8> {
    let context = context();
    let extent = vk::Extent2D {
        width: 40,
        height: 24,
    };
    let desc = TargetDesc { extent, ..*desc };
    let mut target = Target::new(&context, &desc).expect("a target");
    context
        .submit_and_wait(|device, cmd| record(device, cmd, &mut target))
        .expect("the work ends");
    let bytes = target.read_rgba().expect("bytes");
    assert_eq!(bytes.len(), 40 * 24 * 4);
    drop(target);
    finish(context);
    bytes
}

/// Asserts that every texel has this colour, within one step for the driver's rounding to sRGB.
fn assert_all(bytes: &[u8], wanted: [u8; 4]) {
    for (i, texel) in bytes.chunks_exact(4).enumerate() {
        let near = texel.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 1);
        assert!(near, "texel {i} is {texel:?}, not {wanted:?}");
    }
}

const ORANGE: Begin = Begin {
    color: [1.0, 0.5, 0.0, 1.0],
    depth: 1.0,
    flags: vk::RenderingFlags::empty(),
};

/// 0.5 in sRGB is 187.5 of 255.
const ORANGE_BYTES: [u8; 4] = [255, 188, 0, 255];

fn clear(device: &ash::Device, cmd: vk::CommandBuffer, target: &Target) {
    // SAFETY: `cmd` is recording, and `end` follows.
    unsafe {
        target.begin(device, cmd, &ORANGE);
        target.end(device, cmd);
    }
}

#[test]
fn clears_and_reads_back() {
    assert_all(&draw(&TargetDesc::default(), clear), ORANGE_BYTES);
}

#[test]
fn clears_resolves_and_reads_back() {
    let desc = TargetDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..TargetDesc::default()
    };
    assert_all(&draw(&desc, clear), ORANGE_BYTES);
}

#[test]
fn reads_rgba_of_a_bgra_target_without_depth() {
    let desc = TargetDesc {
        color_format: vk::Format::B8G8R8A8_UNORM,
        depth_format: None,
        ..TargetDesc::default()
    };
    assert_all(&draw(&desc, clear), [255, 128, 0, 255]);
}

#[test]
fn a_new_target_is_transparent_black() {
    assert_all(&draw(&TargetDesc::default(), |_, _, _| ()), [0; 4]);
}

#[test]
fn depth_is_cleared() {
    // By default as far as in a pass by default.
    assert!(!throng::PassDesc::default().reversed_z);
    for (begin, wanted) in [
        (Begin::default(), 1.0),
        (
            Begin {
                depth: 0.25,
                ..ORANGE
            },
            0.25,
        ),
    ] {
        let context = context();
        let desc = TargetDesc {
            depth_usage: vk::ImageUsageFlags::TRANSFER_SRC,
            ..TargetDesc::default()
        };
        let target = Target::new(&context, &desc).expect("a target");
        let record = |device: &ash::Device, cmd| {
            // SAFETY: `cmd` is recording, and `end` follows.
            unsafe {
                target.begin(device, cmd, &begin);
                target.end(device, cmd);
            }
        };
        context.submit_and_wait(record).expect("the work ends");
        let read = ImageRead {
            image: target.depth().expect("depth").0,
            aspect: vk::ImageAspectFlags::DEPTH,
            layout: vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
            layer: 0,
            extent: target.extent(),
            texel_bytes: 4,
        };
        // SAFETY: the image is alive, and matches `read`.
        let bytes = unsafe { read_image(&context, &read) }.expect("bytes");
        let texels = bytes.as_chunks::<4>().0;
        assert_eq!(texels.len(), 256 * 256);
        assert!(
            texels
                .iter()
                .all(|&texel| f32::from_le_bytes(texel) == wanted)
        );
        drop(target);
        finish(context);
    }
}

#[test]
fn a_target_is_drawn_to_again_and_again() {
    let context = context();
    let mut frames = Frames::new(&context, 2).expect("frames in flight");
    let target = Target::new(&context, &TargetDesc::default()).expect("a target");
    for number in 0..5 {
        let frame = frames.begin().expect("a frame");
        assert_eq!(frame.frame_index, number % 2);
        clear(&context.device, frame.cmd, &target);
        // SAFETY: `frame` was begun last.
        unsafe { frame.submit() }.expect("a submission");
    }
    assert_all(&target.read_rgba().expect("bytes"), ORANGE_BYTES);
    drop(target);
    drop(frames);
    finish(context);
}

#[test]
fn refuses_targets_that_cannot_be() {
    type Usage = vk::ImageUsageFlags;
    let extent = |width| TargetDesc {
        extent: vk::Extent2D { width, height: 4 },
        ..TargetDesc::default()
    };
    let samples = |flags| TargetDesc {
        samples: vk::SampleCountFlags::from_raw(flags),
        ..TargetDesc::default()
    };
    let color = |color_format| TargetDesc {
        color_format,
        ..TargetDesc::default()
    };
    let depth = |format| TargetDesc {
        depth_format: Some(format),
        ..TargetDesc::default()
    };
    let multisampled_integer = TargetDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..color(vk::Format::R8G8B8A8_UINT)
    };
    let color_usage = |color_usage| TargetDesc {
        color_usage,
        ..TargetDesc::default()
    };
    let depth_usage = |depth_usage| TargetDesc {
        depth_usage,
        ..TargetDesc::default()
    };
    let multisampled_storage = TargetDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..depth_usage(Usage::STORAGE)
    };
    let density = Usage::FRAGMENT_DENSITY_MAP_EXT;
    let shading = Usage::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR;
    let transient = Usage::TRANSIENT_ATTACHMENT;
    let context = context();
    for (row, desc) in [
        ("no texels", extent(0)),
        ("too many texels", extent(u32::MAX)),
        ("no samples", samples(0)),
        ("64 samples", samples(1 << 6)),
        ("depth as colour", color(vk::Format::D32_SFLOAT)),
        ("stencil as colour", color(vk::Format::S8_UINT)),
        ("no colour format", color(vk::Format::UNDEFINED)),
        ("compressed colour", color(vk::Format::BC7_SRGB_BLOCK)),
        ("two planes", color(vk::Format::G8_B8R8_2PLANE_420_UNORM)),
        ("unknown format", color(vk::Format::from_raw(77_777))),
        ("exponent", color(vk::Format::E5B9G9R9_UFLOAT_PACK32)),
        ("integers with samples", multisampled_integer),
        ("stencil as depth", depth(vk::Format::S8_UINT)),
        ("colour as depth", depth(vk::Format::R32_SFLOAT)),
        ("transient colour", color_usage(transient)),
        (
            "colour as depth attachment",
            color_usage(Usage::DEPTH_STENCIL_ATTACHMENT),
        ),
        ("colour for density", color_usage(density)),
        ("colour for shading rates", color_usage(shading)),
        ("unknown usage", color_usage(Usage::from_raw(1 << 30))),
        (
            "transient depth to sample",
            depth_usage(transient | Usage::SAMPLED),
        ),
        (
            "depth as colour attachment",
            depth_usage(Usage::COLOR_ATTACHMENT),
        ),
        ("depth for density", depth_usage(density)),
        ("samples to store to", multisampled_storage),
        ("depth to store to", depth_usage(Usage::STORAGE)),
        ("sRGB to store to", color_usage(Usage::STORAGE)),
    ] {
        match Target::new(&context, &desc) {
            Err(StandaloneError::Image { .. }) => {}
            Err(error) => panic!("{row}: {error:?}"),
            Ok(_) => panic!("{row}"),
        }
    }
    finish(context);
}

/// Every usage that the rules allow is one that the validation layer accepts.
#[test]
fn targets_take_the_usage_that_the_device_supports() {
    type Usage = vk::ImageUsageFlags;
    let context = context();
    for (samples, color_usage, depth_usage) in [
        (1, Usage::SAMPLED, Usage::SAMPLED),
        (4, Usage::SAMPLED | Usage::INPUT_ATTACHMENT, Usage::SAMPLED),
        (1, Usage::INPUT_ATTACHMENT, Usage::INPUT_ATTACHMENT),
    ] {
        for depth_format in [
            None,
            Some(vk::Format::D32_SFLOAT),
            Some(vk::Format::D16_UNORM),
        ] {
            let desc = TargetDesc {
                samples: vk::SampleCountFlags::from_raw(samples),
                depth_format,
                color_usage,
                depth_usage,
                ..TargetDesc::default()
            };
            let target = Target::new(&context, &desc).expect("a target");
            let record = |device: &ash::Device, cmd| clear(device, cmd, &target);
            context.submit_and_wait(record).expect("the work ends");
            drop(target);
        }
    }
    let desc = TargetDesc {
        color_format: vk::Format::R8G8B8A8_UNORM,
        color_usage: Usage::STORAGE,
        ..TargetDesc::default()
    };
    let target = Target::new(&context, &desc).expect("a storage image");
    drop(target);
    finish(context);
}

type Ops = [Option<(vk::AttachmentLoadOp, vk::AttachmentStoreOp)>; 2];

/// Load and store operations of colour and depth, in the order of recording.
static RECORDED: Mutex<Vec<Ops>> = Mutex::new(Vec::new());

unsafe extern "system" fn record_ops(_: vk::CommandBuffer, info: *const vk::RenderingInfo<'_>) {
    // SAFETY: Vulkan's callers pass valid structures.
    let ops = unsafe {
        let depth = (*info).p_depth_attachment.as_ref();
        [(*info).p_color_attachments.as_ref(), depth].map(|a| a.map(|a| (a.load_op, a.store_op)))
    };
    RECORDED.lock().expect("no panic").push(ops);
}

unsafe extern "system" fn ignore() {}

/// A device whose `vkCmdBeginRendering` only records, and whose other functions do nothing.
fn recorder() -> ash::Device {
    let load = |name: &CStr| {
        if name == c"vkCmdBeginRendering" {
            record_ops as *const c_void
        } else {
            ignore as *const c_void
        }
    };
    // SAFETY: the functions that this test calls take pointers and integers, and return nothing.
    unsafe { ash::Device::load_with(load, vk::Device::null()) }
}

/// Depth and multisampled colour are stored only if something reads them afterwards.
#[test]
fn only_what_is_read_afterwards_is_stored() {
    const CLEAR: vk::AttachmentLoadOp = vk::AttachmentLoadOp::CLEAR;
    const KEEP: vk::AttachmentStoreOp = vk::AttachmentStoreOp::STORE;
    const DROP: vk::AttachmentStoreOp = vk::AttachmentStoreOp::DONT_CARE;
    type Usage = vk::ImageUsageFlags;
    let context = context();
    let device = recorder();
    for (samples, depth_usage, color, depth) in [
        (1, Usage::empty(), KEEP, DROP),
        (1, Usage::INPUT_ATTACHMENT, KEEP, KEEP),
        (1, Usage::SAMPLED, KEEP, KEEP),
        (4, Usage::empty(), DROP, DROP),
        (4, Usage::TRANSFER_SRC, DROP, KEEP),
    ] {
        let desc = TargetDesc {
            samples: vk::SampleCountFlags::from_raw(samples),
            depth_usage,
            ..TargetDesc::default()
        };
        let target = Target::new(&context, &desc).expect("a target");
        let cmd = vk::CommandBuffer::null();
        // SAFETY: the functions of this device do nothing.
        unsafe {
            target.begin(&device, cmd, &ORANGE);
            target.end(&device, cmd);
        }
        let recorded = std::mem::take(&mut *RECORDED.lock().expect("no panic"));
        let wanted = [[Some((CLEAR, color)), Some((CLEAR, depth))]];
        assert_eq!(recorded, wanted, "{desc:?}");
        drop(target);
    }
    finish(context);
}
