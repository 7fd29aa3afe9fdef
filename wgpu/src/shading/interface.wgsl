// The interface of throng for fragment shaders of the program (MaterialDesc::wgsl), which stands
// behind their text. Everything is linear, in the world, in metres.

// The input of the entry point.
struct ThrongIn {
    @builtin(position) pixel: vec4f,
    @builtin(front_facing) front: bool,
    //multiview @builtin(view_index) eye: u32,
    @location(0) position: vec3f,
    @location(1) normal: vec3f,                   // zero if the primitive has none
    @location(2) tangent: vec4f,                  // w: sign of the bitangent; zero if it has none
    @location(3) uv: vec4f,                       // both sets of texture coordinates
    @location(4) color: vec4f,                    // material x vertex colour x tints
    @location(5) @interpolate(flat) user: u32,    // the user word of the instance
    // With a tint mask, `color` has no tints but their alpha, and these are those of the instance,
    // which throng_surface applies. Otherwise they are 1.
    @location(6) tint: vec3f,
    @location(7) second_tint: vec3f,
    // For throng_surface, in draws of several materials.
    @location(8) @interpolate(flat) material: u32,
}

// A point of a surface.
struct ThrongSurface {
    position: vec3f,
    normal: vec3f,      // unit, towards the viewer, with the normal map
    to_eye: vec3f,      // unit
    base_color: vec4f,  // alpha is 1 where the material is opaque
    emissive: vec3f,    // strength included
    metallic: f32,
    roughness: f32,
    occlusion: f32,
    unlit: bool,
    hole: bool,         // of the material's mask
    material: u32,      // index in the character's materials
}

// The light of the view: View::lighting.
struct ThrongLighting {
    sun_direction: vec3f,  // towards the sun, unit
    sun_color: vec3f,      // intensity included
    sky_color: vec3f,      // light from straight above
    ground_color: vec3f,   // light from straight below
}

// fn throng_surface(in: ThrongIn) -> ThrongSurface
//     The surface at this fragment. Call it in uniform control flow, before any discard.
//
// fn throng_masked() -> bool
//     False for materials without a mask. Discard only if this is true, so that their pipelines
//     have no discard: if throng_masked() { if surface.hole { discard; } }
//
// fn throng_lighting() -> ThrongLighting
//
// fn throng_level() -> u32
//     The level of detail that is drawn, 0 for the full one.
