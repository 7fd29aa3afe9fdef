// Test only: a closest-hit shader reads a hit. It is compiled, and runs nowhere.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_GOOGLE_include_directive : require

#include "../include/throng_hit.glsl"

layout(location = 0) rayPayloadInEXT vec4 color_and_speed;
hitAttributeEXT vec2 barycentrics;

void main() {
    uint index = gl_InstanceCustomIndexEXT, geometry = gl_GeometryIndexEXT;
    ThrongHit hit = throng_hit(index, geometry, gl_PrimitiveID, barycentrics);
    vec3 previous = throng_hit_previous(index, geometry, gl_PrimitiveID, barycentrics);
    color_and_speed = vec4(hit.color.rgb, distance(hit.position, previous));
}
