//! Every call of a program with a window fails in every way that Vulkan allows.

use crate::driver::{failing_with, reset, revive, stuck, traced};
use crate::ending::{LOST, MEMORY_ERRORS, OF_MEMORY, alone, check, context, finish};
use crate::objects::{KINDS, changes, objects};
use crate::reference::sweep::is_thorough;
use crate::screen::{EXTENT, Window};
use std::collections::BTreeMap;
use throng::ash::vk;
use throng_standalone::{Begin, Context, Frames, StandaloneError, Swapchain};

/// The objects behind a program's window, as far as they were created.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) swapchain: Option<Swapchain>,
    frames: Option<Frames>,
}

pub(crate) const FORMAT: Option<vk::Format> = Some(vk::Format::D32_SFLOAT);
pub(crate) const SAMPLES: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;

impl Shown {
    /// Creates what is missing.
    pub(crate) fn open(&mut self, context: &mut Context) -> Result<(), StandaloneError> {
        if self.swapchain.is_none() {
            let made = Swapchain::new(context, Window(1), EXTENT, FORMAT, SAMPLES);
            self.swapchain = Some(made?);
        }
        if self.frames.is_none() {
            self.frames = Some(Frames::new(context, 2)?);
        }
        Ok(())
    }

    /// Draws a frame, and presents it or drops its image. Returns false if there was no image.
    pub(crate) fn frame(
        &mut self,
        context: &mut Context,
        extent: vk::Extent2D,
        presents: bool,
    ) -> Result<bool, StandaloneError> {
        let swapchain = self.swapchain.as_mut().unwrap();
        let frames = self.frames.as_mut().unwrap();
        let frame = frames.begin()?;
        let Some(mut image) = swapchain.acquire(extent)? else {
            return Ok(false);
        };
        if presents {
            unsafe {
                image.begin(&context.device, frame.cmd, &Begin::default());
                image.end(&context.device, frame.cmd);
                frame.submit_image(&mut image)?;
                image.present()?;
            }
        }
        Ok(true)
    }

    /// Replaces the swapchain by one with a new surface of the same window.
    pub(crate) fn renew_surface(&mut self, context: &mut Context) -> Result<(), StandaloneError> {
        self.swapchain = None;
        self.open(context)
    }

    /// The whole life of the window: frames, another extent, a dropped image, another surface.
    fn live(&mut self, context: &mut Context) -> Result<(), StandaloneError> {
        self.open(context)?;
        let wide = vk::Extent2D {
            width: 100,
            ..EXTENT
        };
        for (extent, presents) in [
            (EXTENT, true),
            (EXTENT, true),
            (wide, true),
            (wide, false),
            (wide, true),
        ] {
            self.frame(context, extent, presents)?;
        }
        self.renew_surface(context)?;
        for _ in 0..3 {
            self.frame(context, EXTENT, true)?;
        }
        Ok(())
    }
}

/// The results that a call may have besides those of every call.
fn answers(call: &str) -> &'static [vk::Result] {
    match call {
        "vkAcquireNextImageKHR" | "vkQueuePresentKHR" => &[
            vk::Result::ERROR_SURFACE_LOST_KHR,
            vk::Result::ERROR_OUT_OF_DATE_KHR,
            vk::Result::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT,
            vk::Result::SUBOPTIMAL_KHR,
        ],
        "vkCreateAndroidSurfaceKHR" => &[vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR],
        "vkCreateSwapchainKHR" => &[
            vk::Result::ERROR_SURFACE_LOST_KHR,
            vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR,
            vk::Result::ERROR_INITIALIZATION_FAILED,
        ],
        _ if call.starts_with("vkGetPhysicalDeviceSurface") => {
            &[vk::Result::ERROR_SURFACE_LOST_KHR]
        }
        _ => &[],
    }
}

/// The results after which the program goes on without an error.
const HARMLESS: [vk::Result; 3] = [
    vk::Result::ERROR_OUT_OF_DATE_KHR,
    vk::Result::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT,
    vk::Result::SUBOPTIMAL_KHR,
];

/// Makes one call fail, and returns the error. Afterwards the program ends, or goes on.
fn fail(
    context: &mut Context,
    (number, call, answer): (i64, &str, vk::Result),
    goes_on: bool,
) -> Option<StandaloneError> {
    let before = objects();
    let mut shown = Shown::default();
    let (result, failed) = failing_with(number, answer, || shown.live(context));
    assert_eq!(failed, Some(call), "call {number}");
    let error = result.err();
    match &error {
        Some(error) => {
            assert!(
                !HARMLESS.contains(&answer),
                "{error} for {call}, {answer:?}"
            );
            check(error, call, answer);
        }
        // The allocator has other memory to try, and what is destroyed waits again.
        None => assert!(
            HARMLESS.contains(&answer) || OF_MEMORY.contains(&call) || call == "vkDeviceWaitIdle",
            "{answer:?} of {call} is ignored"
        ),
    }
    if goes_on {
        if matches!(error, Some(StandaloneError::SurfaceLost { .. })) && shown.swapchain.is_some() {
            shown.renew_surface(context).unwrap();
        }
        let again = shown.live(context);
        again.unwrap_or_else(|error| panic!("{error} after {answer:?} of {call}"));
        assert!(shown.frame(context, EXTENT, true).unwrap());
    }
    drop(shown);
    assert_eq!(objects(), before, "left over after {answer:?} of {call}");
    let messages = context.messages.clone();
    let checked = messages.check();
    checked.unwrap_or_else(|error| panic!("{answer:?} of {call} ({number}): {error}"));
    revive();
    error
}

#[test]
fn every_call_of_a_window_can_fail() {
    let _turn = alone();
    let mut context = context().unwrap();
    // The first life leaves memory to the allocator, which the second does not take again.
    let mut calls = Vec::new();
    for _ in 0..2 {
        let mut shown = Shown::default();
        let result;
        (result, calls) = traced(|| shown.live(&mut context));
        result.unwrap();
    }
    let mut tried = BTreeMap::<&str, usize>::new();
    let mut named = false;
    for (number, call) in calls.iter().enumerate() {
        // One call of each name at least.
        if !is_thorough() && calls[number + 1..].contains(call) {
            continue;
        }
        // Giving a name is the same everywhere.
        if *call == "vkSetDebugUtilsObjectNameEXT" && std::mem::replace(&mut named, true) {
            continue;
        }
        let mut all = MEMORY_ERRORS.to_vec();
        all.push(LOST);
        all.extend(answers(call));
        for answer in all {
            *tried.entry(call).or_default() += 1;
            fail(&mut context, (number as i64, call, answer), false);
            if answer != LOST {
                fail(&mut context, (number as i64, call, answer), true);
            }
        }
    }
    finish(context);
    println!(
        "{} calls, {} failures: {tried:?}",
        calls.len(),
        tried.values().sum::<usize>()
    );
    for call in [
        "vkAcquireNextImageKHR",
        "vkAllocateCommandBuffers",
        "vkBeginCommandBuffer",
        "vkBindImageMemory",
        "vkCreateCommandPool",
        "vkCreateFence",
        "vkCreateSemaphore",
        "vkCreateSwapchainKHR",
        "vkDeviceWaitIdle",
        "vkEndCommandBuffer",
        "vkGetSwapchainImagesKHR",
        "vkQueuePresentKHR",
        "vkQueueSubmit2",
        "vkResetCommandPool",
        "vkResetFences",
        "vkWaitForFences",
    ] {
        assert!(tried.contains_key(call), "{call}");
    }
}

#[test]
fn a_context_that_is_not_made_leaves_nothing() {
    let _turn = alone();
    let (made, calls) = traced(context);
    finish(made.unwrap());
    let mut failures = 0;
    for (number, call) in (0..).zip(&calls) {
        let all = MEMORY_ERRORS.into_iter().chain([LOST]);
        for answer in all.chain(answers(call).iter().copied()) {
            let (made, failed) = failing_with(number, answer, context);
            assert_eq!(failed, Some(*call), "call {number}");
            match made {
                Ok(_) => panic!("{answer:?} of {call} is ignored"),
                Err(error) => check(&error, call, answer),
            }
            assert_eq!(objects(), [0; KINDS], "{answer:?} of {call}");
            revive();
            failures += 1;
        }
    }
    println!("{} calls, {failures} failures: {calls:?}", calls.len());
}

/// A wait that runs out of memory is repeated before anything is destroyed.
#[test]
fn nothing_is_destroyed_before_the_device_is_idle() {
    let _turn = alone();
    let mut context = context().unwrap();
    let before = objects();
    let mut shown = Shown::default();
    shown.live(&mut context).unwrap();
    let fails = |waits: usize, work: &mut dyn FnMut()| {
        let answer = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        let (((), calls), failed) = failing_with(0, answer, || traced(work));
        assert_eq!(failed, Some("vkDeviceWaitIdle"));
        assert_eq!(calls, vec!["vkDeviceWaitIdle"; 1 + waits]);
    };
    // The swapchain waits, and each of its two images.
    fails(3, &mut || shown.swapchain = None);
    fails(1, &mut || shown.frames = None);
    assert_eq!(objects(), before);
    let messages = context.messages.clone();
    let mut context = Some(context);
    // The allocator waits, and the device.
    fails(2, &mut || context = None);
    assert_eq!(objects(), [0; KINDS]);
    messages.check().unwrap();
}

/// If the driver cannot wait at all, the device may use everything, so nothing is destroyed.
#[test]
fn what_may_be_in_use_is_leaked() {
    let _turn = alone();
    let mut context = context().unwrap();
    let mut shown = Shown::default();
    shown.live(&mut context).unwrap();
    let before = objects();
    let messages = stuck(|| {
        let messages = context.messages.clone();
        drop((shown, context));
        messages
    });
    assert_eq!(objects(), before);
    messages.check().unwrap();
    // The objects are leaked for good, and so is the device.
    reset();
}

/// Whatever is dropped first, the device outlives all of its objects and each surface its
/// swapchain.
#[test]
fn windows_are_dropped_before_or_after_their_context() {
    let _turn = alone();
    for before in [true, false] {
        let mut context = context().unwrap();
        let mut shown = Shown::default();
        shown.live(&mut context).unwrap();
        let messages = context.messages.clone();
        if before {
            drop(shown);
            drop(context);
        } else {
            drop(context);
            assert_ne!(objects(), [0; KINDS]);
            drop(shown);
        }
        assert_eq!(changes(&[0; KINDS]), []);
        messages.check().unwrap();
    }
}
