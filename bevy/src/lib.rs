//! Crowds of skinned, animated characters in Bevy.
