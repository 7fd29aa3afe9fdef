// The functions of interface.wgsl: shaders/include/throng_surface.glsl in another language, whose
// comments give the reasons. tests/material.rs compares the two.

const THRONG_ALPHA_MASK: u32 = 1u;
const THRONG_ALPHA_BLEND: u32 = 2u;
const THRONG_UNLIT: u32 = 4u;
const THRONG_TURNS_UVS: u32 = 8u;
const THRONG_SECOND_UVS: u32 = 16u;
const THRONG_TEXTURE_SHIFT: u32 = 8u;
const THRONG_SURFACE_NORMALS: u32 = 16384u;
const THRONG_SURFACE_TANGENTS: u32 = 32768u;
const THRONG_TWO_SIDED: u32 = 65536u;
const THRONG_MANY: u32 = 131072u;
const THRONG_UV_SECOND: u32 = 1u;
const THRONG_UV_TRANSFORMED: u32 = 2u;

struct ThrongTexture { uv_matrix: vec4f, uv_offset: vec2f, uv_set: u32, slot: u32 }

struct ThrongMaterial {
    base_color: vec4f,
    emissive: vec3f,
    alpha_cutoff: f32,
    metallic: f32,
    roughness: f32,
    normal_scale: f32,
    occlusion_strength: f32,
    variant: u32,
    second_tint_weight: f32,
    reserved: array<u32, 2>,
    tint: vec4f,
    textures: array<ThrongTexture, 6>,
}

// Of its words, number 9 is the material.
struct ThrongPrimitive { words: array<u32, 20>, base_color: vec4f, tint: vec4f }

struct ThrongEye {
    clip_from_world: mat4x4f,
    eye: vec4f,
    jitter_x: f32,
    jitter_y: f32,
    steady_clip_from_world: mat4x4f,
    previous_clip_from_world: mat4x4f,
}

struct ThrongView {
    clip_from_world: mat4x4f,
    eye: vec4f,
    sun_direction: vec3f,
    shadow_texel: f32,
    sun_color: vec3f,
    shadow_bias: f32,
    sky_color: vec3f,
    jitter_x: f32,
    ground_color: vec3f,
    jitter_y: f32,
    history: array<vec4u, 2>,
    ring_palettes: vec2u,
    history_instances: u32,
    shadow_layers: u32,
    steady_clip_from_world: mat4x4f,
    previous_clip_from_world: mat4x4f,
    history_origin: vec4f,
    shadow_from_world: array<mat4x4f, 4>,
    environment_from_world: array<vec4f, 3>,
    environment: array<vec4f, 9>,
    //multiview eyes: array<ThrongEye, 4>,
}

struct ThrongDraw { primitive: u32, flip: u32, level: u32 }

// translate.rs maps two of these bindings each to one binding of set 0.
@group(0) @binding(0) var<uniform> throng_view: ThrongView;
@group(0) @binding(1) var<storage> throng_materials: array<ThrongMaterial>;
@group(0) @binding(2) var<storage> throng_primitives: array<ThrongPrimitive>;
@group(0) @binding(5) var throng_textures: binding_array<texture_2d<f32>, 6>;
@group(0) @binding(6) var throng_samplers: binding_array<sampler, 6>;
var<immediate> throng_draw: ThrongDraw;

// Specialization constant 1000. translate.rs finds it by its value.
var<private> throng_surface_constant: u32 = 0x7468726Fu;

// The material in draws of several, from the input.
var<private> throng_material_of_instance: u32;

fn throng_material_index() -> u32 {
    if (throng_surface_constant & THRONG_MANY) != 0u {
        return throng_material_of_instance;
    }
    return throng_primitives[throng_draw.primitive].words[9];
}

fn throng_has(flag: u32) -> bool {
    if (throng_surface_constant & flag) == 0u {
        return false;
    }
    if (throng_surface_constant & THRONG_MANY) == 0u || flag >= THRONG_SURFACE_NORMALS {
        return true;
    }
    return (throng_materials[throng_material_index()].variant & flag) != 0u;
}

fn throng_masked() -> bool {
    return (throng_surface_constant & THRONG_ALPHA_MASK) != 0u;
}

fn throng_level() -> u32 {
    return throng_draw.level;
}

fn throng_lighting() -> ThrongLighting {
    return ThrongLighting(throng_view.sun_direction, throng_view.sun_color,
                          throng_view.sky_color, throng_view.ground_color);
}

fn throng_is_transformed(which: u32) -> bool {
    let uv_set = throng_materials[throng_material_index()].textures[which].uv_set;
    return throng_has(THRONG_TURNS_UVS) && (uv_set & THRONG_UV_TRANSFORMED) != 0u;
}

fn throng_turn_uv(which: u32, sets: vec4f) -> vec2f {
    var uv = sets.xy;
    if throng_has(THRONG_SECOND_UVS) {
        let uv_set = throng_materials[throng_material_index()].textures[which].uv_set;
        uv = select(sets.xy, sets.zw, (uv_set & THRONG_UV_SECOND) != 0u);
    }
    if throng_has(THRONG_TURNS_UVS) {
        let m = throng_materials[throng_material_index()].textures[which].uv_matrix;
        uv = select(uv, mat2x2f(m.xy, m.zw) * uv, throng_is_transformed(which));
    }
    return uv;
}

fn throng_texture_uv(which: u32, sets: vec4f) -> vec2f {
    var uv = throng_turn_uv(which, sets);
    if throng_has(THRONG_TURNS_UVS) {
        uv += throng_materials[throng_material_index()].textures[which].uv_offset;
    }
    return uv;
}

fn throng_slot(which: u32) -> u32 {
    return throng_materials[throng_material_index()].textures[which].slot;
}

fn throng_has_texture(which: u32) -> bool {
    return throng_has(1u << (THRONG_TEXTURE_SHIFT + which));
}

struct ThrongSlopes { position: array<vec3f, 2>, uv: array<vec4f, 2> }

// For each texture, because the index of a texture is a constant.
//each
@diagnostic(off, derivative_uniformity)
fn throng_sample_WHICH(uv: vec4f, slopes: ThrongSlopes) -> vec4f {
    let at = throng_texture_uv(WHICHu, uv);
    if throng_is_transformed(WHICHu) {
        let dx = throng_turn_uv(WHICHu, slopes.uv[0]);
        let dy = throng_turn_uv(WHICHu, slopes.uv[1]);
        return textureSampleGrad(throng_textures[SLOT], throng_samplers[SLOT], at, dx, dy);
    }
    return textureSample(throng_textures[SLOT], throng_samplers[SLOT], at);
}
//end

fn throng_unit(v: vec3f) -> vec3f {
    return v * inverseSqrt(max(dot(v, v), 1e-30));
}

fn throng_facet(slopes: ThrongSlopes, to_eye: vec3f) -> vec3f {
    let v = cross(slopes.position[0], slopes.position[1]);
    let largest = max(max(abs(v.x), abs(v.y)), abs(v.z));
    var facet = vec3f();
    if largest > 0.0 {
        facet = normalize(v / largest);
    }
    return select(facet, -facet, dot(facet, to_eye) < 0.0);
}

fn throng_derived_frame(slopes: ThrongSlopes, normal: vec3f) -> mat3x3f {
    let dp1 = slopes.position[0];
    let dp2 = slopes.position[1];
    let duv1 = throng_turn_uv(2u, slopes.uv[0]);
    let duv2 = throng_turn_uv(2u, slopes.uv[1]);
    let dp2perp = cross(dp2, normal);
    let dp1perp = cross(normal, dp1);
    let side = select(1.0, -1.0, dot(normal, cross(dp1, dp2)) < 0.0);
    var tangent = side * (dp2perp * duv1.x + dp1perp * duv2.x);
    var bitangent = side * (dp2perp * duv1.y + dp1perp * duv2.y);
    let m = max(abs(tangent), abs(bitangent));
    let largest = max(max(m.x, m.y), m.z);
    if largest == 0.0 {
        return mat3x3f(vec3f(), vec3f(), normal);
    }
    tangent /= largest;
    bitangent /= largest;
    let scale = inverseSqrt(max(dot(tangent, tangent), dot(bitangent, bitangent)));
    return mat3x3f(tangent * scale, bitangent * scale, normal);
}

@diagnostic(off, derivative_uniformity)
fn throng_bent_normal(in: ThrongIn, slopes: ThrongSlopes, normal: vec3f) -> vec3f {
    let texel = throng_sample_2(in.uv, slopes).xyz;
    var detail = texel * 2.0 - 1.0;
    if texel.z == 0.0 {
        detail.z = sqrt(max(1.0 - dot(detail.xy, detail.xy), 0.0));
    }
    let scale = throng_materials[throng_material_index()].normal_scale;
    detail = vec3f(detail.xy * scale, detail.z);
    var frame: mat3x3f;
    if throng_has(THRONG_SURFACE_TANGENTS) && dot(in.tangent.xyz, in.tangent.xyz) > 0.0 {
        let tangent = in.tangent.xyz;
        frame = mat3x3f(tangent, cross(normal, tangent) * in.tangent.w, normal);
    } else {
        frame = throng_derived_frame(slopes, normal);
        frame[1] = -frame[1];
    }
    let bent = frame * detail;
    let length2 = dot(bent, bent);
    return select(normal, bent * inverseSqrt(max(length2, 1e-38)), length2 > 0.0);
}

@diagnostic(off, derivative_uniformity)
fn throng_surface(in: ThrongIn) -> ThrongSurface {
    throng_material_of_instance = in.material;
    var slopes: ThrongSlopes;
    slopes.position = array(dpdx(in.position), dpdy(in.position));
    slopes.uv = array(dpdx(in.uv), dpdy(in.uv));
    var eye = throng_view.eye;
    //multiview eye = throng_view.eyes[in.eye].eye;
    let to_eye = eye.xyz - in.position * eye.w;
    let facet = throng_facet(slopes, to_eye);
    let index = throng_material_index();

    var surface: ThrongSurface;
    surface.position = in.position;
    surface.to_eye = throng_unit(to_eye);
    surface.material = index;
    let has_normals = throng_has(THRONG_SURFACE_NORMALS);
    let behind = has_normals && throng_has(THRONG_TWO_SIDED) && !in.front
        && dot(in.normal, facet) < 0.0;
    var normal = throng_unit(select(facet, in.normal, has_normals));
    if throng_has_texture(2u) {
        normal = throng_bent_normal(in, slopes, normal);
    }
    surface.normal = select(normal, -normal, behind);
    surface.base_color = in.color;
    if throng_has_texture(0u) {
        surface.base_color *= throng_sample_0(in.uv, slopes);
    }
    if throng_has_texture(5u) {
        let mask = throng_sample_5(in.uv, slopes);
        let tint = mix(vec3f(1.0), in.tint, mask.r) * mix(vec3f(1.0), in.second_tint, mask.g);
        surface.base_color *= vec4f(tint, 1.0);
    }
    surface.metallic = throng_materials[index].metallic;
    surface.roughness = throng_materials[index].roughness;
    if throng_has_texture(1u) {
        let texel = throng_sample_1(in.uv, slopes);
        surface.roughness *= texel.g;
        surface.metallic *= texel.b;
    }
    surface.occlusion = 1.0;
    if throng_has_texture(3u) {
        let occlusion = throng_sample_3(in.uv, slopes).r;
        surface.occlusion = mix(1.0, occlusion, throng_materials[index].occlusion_strength);
    }
    surface.emissive = throng_materials[index].emissive;
    if throng_has_texture(4u) {
        surface.emissive *= throng_sample_4(in.uv, slopes).rgb;
    }
    surface.unlit = (throng_materials[index].variant & THRONG_UNLIT) != 0u;
    if throng_masked() && surface.base_color.a < throng_materials[index].alpha_cutoff {
        surface.hole = true;
        surface.base_color.a = 0.0;
    } else if !throng_has(THRONG_ALPHA_BLEND) {
        surface.base_color.a = 1.0;
    }
    return surface;
}
