//! throng.
