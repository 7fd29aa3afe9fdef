//! Masked materials in the passes of depth, shadow and motion; the light through a shadow map.
