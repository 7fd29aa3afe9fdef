// A surface as Bevy lights it.
fn bevy_lit(in: ThrongIn, surface: ThrongSurface) -> vec4f {
    let flat_normal = select(surface.normal, normalize(in.normal), dot(in.normal, in.normal) > 0.0);
    return bevy_throng_lit(
        in.pixel, surface.position, flat_normal, surface.normal,
        surface.base_color, surface.emissive,
        vec3f(surface.metallic, surface.roughness, surface.occlusion), surface.unlit,
    );
}
