//! Spans for profilers, with the feature `tracing`.

/// Opens a span of the crate `tracing` until the end of the block. Without the feature, it is
/// nothing.
macro_rules! span {
    ($name:literal) => {
        #[cfg(feature = "tracing")]
        let _span = tracing::info_span!(target: "throng", $name).entered();
    };
}
