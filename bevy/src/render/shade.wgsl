@fragment
fn throng_shade(in: ThrongIn) -> @location(0) vec4f {
    let surface = throng_surface(in);
    if throng_masked() { if surface.hole { discard; } }
    return bevy_lit(in, surface);
}
