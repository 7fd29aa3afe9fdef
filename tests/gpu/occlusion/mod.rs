//! Instances that depth hides: the stage pyramid, and the test of volumes.

mod pyramid;
mod reference;
mod volumes;
