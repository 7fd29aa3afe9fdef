struct Globals { clip_from_world: mat4x4f, light_from_world: mat4x4f }
var<immediate> globals: Globals;
@group(0) @binding(0) var shadow_map: texture_depth_2d;
@group(0) @binding(1) var shadow_sampler: sampler_comparison;

struct Surface {
    @builtin(position) clip: vec4f,
    @location(0) world: vec3f,
    @location(1) normal: vec3f,
    @location(2) color: vec3f,
}

// A corner of the 12 triangles of a box. The first box is the ground.
@vertex
fn place(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Surface {
    let corners = array(vec2f(-1, -1), vec2f(1, -1), vec2f(1, 1), vec2f(-1, 1));
    let corner = corners[array(0, 1, 2, 0, 2, 3)[vertex % 6]];
    let side = select(-1.0, 1.0, vertex >= 18);
    let at = vec3f(side, corner.x * side, corner.y);
    let turned = array(vec3u(0, 1, 2), vec3u(2, 0, 1), vec3u(1, 2, 0))[(vertex / 6) % 3];
    let centres = array(
        vec3f(0, -1, 0), vec3f(-6.6, 0.8, 0), vec3f(6.4, 0.5, 1.5), vec3f(1, 1.2, -0.85));
    let centre = centres[instance];
    let size = array(vec3f(40, 1, 40), vec3f(0.8), vec3f(0.5), vec3f(3.2, 1.2, 0.1))[instance];
    let normal = vec3f(side, 0, 0);
    let world = centre + vec3f(at[turned.x], at[turned.y], at[turned.z]) * size;
    let color = select(vec3f(0.55, 0.25, 0.15), vec3f(0.3, 0.36, 0.25), instance == 0);
    let turned_normal = vec3f(normal[turned.x], normal[turned.y], normal[turned.z]);
    return Surface(globals.clip_from_world * vec4f(world, 1), world, turned_normal, color);
}

@fragment
fn shade(in: Surface) -> @location(0) vec4f {
    let to_sun = normalize(vec3f(0.4, 0.8, 0.45));
    let light = (globals.light_from_world * vec4f(in.world + in.normal * 0.03, 1)).xyz;
    let uv = light.xy * vec2f(0.5, -0.5) + 0.5;
    let lit = textureSampleCompareLevel(shadow_map, shadow_sampler, uv, light.z);
    let sun = select(1.0, lit, all(uv == saturate(uv))) * max(dot(in.normal, to_sun), 0);
    return vec4f(in.color * (0.35 + 0.9 * sun), 1);
}
