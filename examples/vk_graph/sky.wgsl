@vertex
fn place(@builtin(vertex_index) at: u32) -> @builtin(position) vec4f {
    return vec4f(f32(at & 1) * 4 - 1, f32(at >> 1) * 4 - 1, 1, 1);
}

@fragment
fn shade(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return vec4f(0.2, 0.3, 0.5, 1) + at.y * 0.0007;
}
