//! The error type of the crate.

use throng::ash::vk;

pub(crate) type Result<T, E = Error> = core::result::Result<T, E>;

/// An error of this crate, of throng or of wgpu.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of throng.
    ///
    /// [`throng::Error::Unsupported`] names what the adapter lacks.
    #[error(transparent)]
    Throng(#[from] throng::Error),
    /// The adapter is of another backend than Vulkan.
    ///
    /// Create the instance with [`wgpu::Backends::VULKAN`].
    #[error("the adapter's backend is {0}, but throng needs Vulkan")]
    Backend(wgpu::Backend),
    /// The adapter lacks features of wgpu that the descriptor requires.
    #[error("the adapter does not support these features: {0}")]
    Features(wgpu::Features),
    /// The descriptor requires experimental features, but does not enable them.
    #[error("these features are experimental, and DeviceDescriptor does not enable such: {0}")]
    Experimental(wgpu::Features),
    /// A descriptor needs more than a limit of the adapter or device.
    #[error("{name} is {asked}, but {allowed} are allowed")]
    Limit {
        /// The name of the limit, as in [`wgpu::Limits`], or of a constant here.
        name: &'static str,
        /// The value that the descriptor needs.
        asked: u64,
        /// The limit.
        allowed: u64,
    },
    /// Vulkan could not create the device.
    #[error("the device could not be created: {0}")]
    Device(wgpu::hal::DeviceError),
    /// wgpu could not create the device.
    #[error("the device could not be created")]
    RequestDevice(#[from] wgpu::RequestDeviceError),
    /// The device is lost or was destroyed, so nothing can be recorded.
    #[error("the device is lost")]
    DeviceLost,
    /// wgpu could not wait for the GPU.
    #[error("cannot wait for the GPU: {0}")]
    Wait(wgpu::PollError),
    /// All frames in flight are still used by the GPU.
    ///
    /// Skip this frame, call [`Crowd::wait_for_frame`](crate::Crowd::wait_for_frame) before it, or
    /// create the crowd with more [frames in flight](throng::CrowdDesc::frames_in_flight).
    #[error("all {frames} frames of the crowd are in flight (CrowdDesc::frames_in_flight)")]
    InFlight {
        /// The number of frames that the crowd can have in flight.
        frames: u32,
    },
    /// A crowd prepared a later frame before the draws of this one were submitted, or began one
    /// before its [reveal](crate::Frame::reveal) was.
    ///
    /// That has overwritten what they would read, so nothing was submitted. Submit encoders before
    /// [`Frame::prepare`](crate::Frame::prepare) of the next frame.
    #[error("the draws of frame {frame} are submitted too late: frame {later} was prepared")]
    Late {
        /// The number of the frame, counted from 1 in the order of
        /// [`Crowd::begin_frame`](crate::Crowd::begin_frame).
        frame: u64,
        /// The number of the later frame.
        later: u64,
    },
    /// Draws after [`Frame::reveal`](crate::Frame::reveal) would be submitted without it, or
    /// before it.
    ///
    /// They would read lists that the GPU has not written, so nothing was submitted.
    #[error(
        "the draws of frame {frame} come after its reveal, which was not submitted before them"
    )]
    Unrevealed {
        /// The number of the frame, as in [`Self::Late`].
        frame: u64,
    },
    /// The frame is not prepared.
    #[error("the frame is not prepared, or preparing it failed")]
    NotPrepared,
    /// The adapter cannot draw into textures of a format as a pass would.
    #[error("{what} {format:?}: {why}")]
    Format {
        /// The field of [`PassDesc`](crate::PassDesc), or the texture.
        what: &'static str,
        /// The format.
        format: wgpu::TextureFormat,
        /// The reason why it cannot be used.
        why: &'static str,
    },
    /// A binding of a layout is of a kind that draws of crowds do not support.
    #[error("binding {binding} {why}")]
    Binding {
        /// The number of the binding.
        binding: u32,
        /// The reason.
        why: &'static str,
    },
    /// A draw has fewer or more bind groups than the pass.
    #[error("{given} bind groups are given, but the pass has {expected} (MaterialDesc)")]
    BindGroups {
        /// The number of layouts of [`MaterialDesc`](crate::MaterialDesc), or 0 without one.
        expected: usize,
        /// The number of groups of the draw.
        given: usize,
    },
    /// A fragment shader of the program cannot be translated.
    ///
    /// wgpu found no fault in it. A name that begins with `throng_` may be one of throng's own.
    #[error("the fragment shader: {0}")]
    Shader(String),
    /// The encoder is from another [`Gpu`](crate::Gpu) than the crowd.
    #[error("the encoder is of another device than the crowd")]
    OtherEncoder,
    /// A texture, a buffer or a layout is of another device than the crowd.
    #[error("{what} is of another device than the crowd: {text}")]
    OtherDevice {
        /// The object, by its use.
        what: &'static str,
        /// The message of wgpu.
        text: String,
    },
    /// A texture or a buffer was destroyed.
    #[error("{0} was destroyed")]
    Destroyed(&'static str),
    /// This build of wgpu does not tell the handle of a buffer.
    #[cfg(feature = "wgpu-29")]
    #[error("this wgpu gives no handle of {0}")]
    NoHandle(&'static str),
    /// The attachments do not fit the pass or each other.
    #[error("{what} {why}")]
    Attachment {
        /// The field of [`wgpu::RenderPassDescriptor`], or the texture.
        what: &'static str,
        /// The reason why it cannot be used.
        why: &'static str,
    },
    /// wgpu rejected the attachments: formats or sample counts that are not those of the pass, a
    /// viewport that is larger than they are, a texture that was destroyed, and so on.
    #[error("wgpu rejects {what}: {source}")]
    Rejected {
        /// The object or the call that wgpu rejected.
        what: &'static str,
        /// The reason.
        source: wgpu::Error,
    },
}

/// Names the call of Vulkan that failed.
pub(crate) fn failed(call: &'static str) -> impl Fn(vk::Result) -> throng::Error {
    move |result| throng::Error::Vulkan { call, result }
}
