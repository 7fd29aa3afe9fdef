// The functions of throng without its bindings, with which wgpu checks a shader of the program.
fn throng_surface(in: ThrongIn) -> ThrongSurface { return ThrongSurface(); }
fn throng_masked() -> bool { return false; }
fn throng_lighting() -> ThrongLighting { return ThrongLighting(); }
fn throng_level() -> u32 { return 0u; }
