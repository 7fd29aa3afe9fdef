#import bevy_pbr::{
    pbr_types,
    pbr_functions,
    mesh_types::MESH_FLAGS_SHADOW_RECEIVER_BIT,
}

// Bevy's lighting of a point, with its fog, exposure and tone mapping. `facing` is the normal
// without the normal map.
fn bevy_throng_lit(
    pixel: vec4<f32>,
    position: vec3<f32>,
    facing: vec3<f32>,
    normal: vec3<f32>,
    base_color: vec4<f32>,
    emissive: vec3<f32>,
    metallic_roughness_occlusion: vec3<f32>,
    unlit: bool,
) -> vec4<f32> {
    var in = pbr_types::pbr_input_new();
    in.material.base_color = base_color;
    in.material.emissive = vec4<f32>(emissive, 1.0);
    in.material.metallic = metallic_roughness_occlusion.x;
    in.material.perceptual_roughness = metallic_roughness_occlusion.y;
    in.material.flags |= pbr_types::STANDARD_MATERIAL_FLAGS_FOG_ENABLED_BIT;
    in.diffuse_occlusion = vec3<f32>(metallic_roughness_occlusion.z);
    in.frag_coord = pixel;
    in.world_position = vec4<f32>(position, 1.0);
#ifdef VIEW_PROJECTION_ORTHOGRAPHIC
    in.is_orthographic = true;
#endif
    in.V = pbr_functions::calculate_view(in.world_position, in.is_orthographic);
    in.world_normal = select(facing, -facing, dot(facing, normal) < 0.0);
    in.N = normal;
    in.flags = MESH_FLAGS_SHADOW_RECEIVER_BIT;
    var color = base_color;
    if !unlit {
        color = pbr_functions::apply_pbr_lighting(in);
    }
    return pbr_functions::main_pass_post_lighting_processing(in, color);
}
