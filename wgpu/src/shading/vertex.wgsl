// The outputs of the crate's vertex shader, with which wgpu compares the inputs of a shader.
struct Out {
    @builtin(position) clip: vec4f,
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) tangent: vec4f,
    @location(3) uv: vec4f,
    @location(4) color: vec4f,
    @location(5) @interpolate(flat) user: u32,
    @location(6) tint: vec3f,
    @location(7) second_tint: vec3f,
    @location(8) @interpolate(flat) material: u32,
}

@vertex
fn nothing() -> Out { return Out(); }
