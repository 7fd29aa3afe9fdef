//! Errors of the engine's allocator.

use super::names::Escaped;
use core::error::Error;
use core::fmt;
use core::ops::Deref;
use std::sync::Arc;

/// An error of a [`MemoryAllocator`](crate::gpu::MemoryAllocator), which it dereferences to.
///
/// Two of them are equal if they have the same text.
///
/// ```
/// use throng::error::AllocatorError;
/// use throng::gpu_allocator::AllocationError;
///
/// let why = AllocatorError::from(Box::<dyn std::error::Error + Send + Sync>::from(
///     AllocationError::OutOfMemory,
/// ));
/// let error = throng::Error::Memory { name: "palettes".into(), bytes: 64, why };
/// let source = std::error::Error::source(&error);
/// let own = source.and_then(|source| source.downcast_ref::<AllocationError>());
/// assert!(matches!(own, Some(AllocationError::OutOfMemory)));
/// ```
#[derive(Clone)]
pub struct AllocatorError(Arc<dyn Error + Send + Sync>);

impl Deref for AllocatorError {
    type Target = dyn Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl From<Box<dyn Error + Send + Sync>> for AllocatorError {
    fn from(error: Box<dyn Error + Send + Sync>) -> Self {
        Self(error.into())
    }
}

impl From<&'static str> for AllocatorError {
    fn from(text: &'static str) -> Self {
        Box::<dyn Error + Send + Sync>::from(text).into()
    }
}

impl PartialEq for AllocatorError {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

impl fmt::Debug for AllocatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for AllocatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped(&self.0.to_string()).fmt(f)
    }
}
