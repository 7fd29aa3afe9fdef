var<immediate> clip_from_world: mat4x4f;

// The first three vertices are the sky, the others two triangles of a wall.
@vertex
fn place(@builtin(vertex_index) at: u32) -> @builtin(position) vec4f {
    if at < 3 {
        return vec4f(f32(at & 1) * 4 - 1, f32(at >> 1) * 4 - 1, 1, 1);
    }
    let corners = array(vec2f(0, 0), vec2f(1, 0), vec2f(1, 1), vec2f(0, 1));
    let corner = corners[array(0, 1, 2, 0, 2, 3)[at - 3]];
    return clip_from_world * vec4f(corner.x * 4 - 2.6, corner.y * 1.7, 0.2, 1);
}

@fragment
fn shade(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let color = select(vec3f(0.5, 0.22, 0.13), vec3f(0.2, 0.3, 0.5), at.z == 1);
    return vec4f(color + at.y * 0.0007, 1);
}
