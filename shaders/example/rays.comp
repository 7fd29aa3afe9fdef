// Example rays: a picture by ray queries alone. A ground with shadows, a mirror, and a crowd.
#version 460
#extension GL_EXT_ray_query : require
#extension GL_GOOGLE_include_directive : require

#include "../include/throng_hit.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform accelerationStructureEXT people;
layout(set = 0, binding = 1, std430) writeonly buffer Pixels { uint pixels[]; };

layout(push_constant) uniform Push {
    mat4 world_from_clip;
    vec4 eye;
    vec4 sun;  // unit, towards the sun
    uvec2 size;
};

const float FAR = 200.0;
const vec3 SKY = vec3(0.45, 0.6, 0.85);
// A mirror that stands behind the crowd: a rectangle in the plane of this z.
const float MIRROR_Z = -9.0;
const vec2 MIRROR_HALF = vec2(9.0, 3.2);

// True if something is between a point and the sun.
bool in_shadow(const vec3 point, const float start) {
    rayQueryEXT query;
    rayQueryInitializeEXT(query, people, gl_RayFlagsTerminateOnFirstHitEXT, 0xFF, point, start,
                          sun.xyz, FAR);
    while (rayQueryProceedEXT(query)) {
        uint index = rayQueryGetIntersectionInstanceCustomIndexEXT(query, false);
        if (throng_ray_accepts(index, rayQueryGetIntersectionGeometryIndexEXT(query, false))) {
            rayQueryConfirmIntersectionEXT(query);
        }
    }
    return rayQueryGetIntersectionTypeEXT(query, true)
           != gl_RayQueryCommittedIntersectionNoneEXT;
}

vec3 lit(const vec3 color, const vec3 normal, const bool shadowed) {
    float direct = shadowed ? 0.0 : max(dot(normal, sun.xyz), 0.0);
    return color * (0.9 * direct + mix(vec3(0.12, 0.1, 0.08), SKY * 0.6, normal.y * 0.5 + 0.5));
}

// The colour along a ray, and whether it met the mirror, where it goes on.
vec3 trace(inout vec3 origin, inout vec3 direction, out bool mirrored) {
    rayQueryEXT query;
    rayQueryInitializeEXT(query, people, gl_RayFlagsNoneEXT, 0xFF, origin, 0.001, direction, FAR);
    while (rayQueryProceedEXT(query)) {
        uint index = rayQueryGetIntersectionInstanceCustomIndexEXT(query, false);
        if (throng_ray_accepts(index, rayQueryGetIntersectionGeometryIndexEXT(query, false))) {
            rayQueryConfirmIntersectionEXT(query);
        }
    }
    float nearest = FAR;
    bool met = rayQueryGetIntersectionTypeEXT(query, true)
               == gl_RayQueryCommittedIntersectionTriangleEXT;
    if (met) {
        nearest = rayQueryGetIntersectionTEXT(query, true);
    }
    float to_mirror = (MIRROR_Z - origin.z) / direction.z;
    vec3 at = origin + direction * to_mirror;
    mirrored = to_mirror > 0.001 && to_mirror < nearest && abs(at.x) < MIRROR_HALF.x && at.y > 0.05
               && at.y < MIRROR_HALF.y;
    if (mirrored) {
        origin = at;
        direction.z = -direction.z;
        return vec3(0.0);
    }
    float to_ground = -origin.y / direction.y;
    if (to_ground > 0.0 && to_ground < nearest) {
        vec3 ground = origin + direction * to_ground;
        vec2 tile = floor(ground.xz / 2.0);
        vec3 color = mix(vec3(0.36, 0.35, 0.33), vec3(0.44, 0.43, 0.4), mod(tile.x + tile.y, 2.0));
        vec3 shaded = lit(color, vec3(0.0, 1.0, 0.0), in_shadow(ground, 0.001));
        return mix(shaded, SKY, smoothstep(30.0, 90.0, to_ground));
    }
    if (!met) {
        return mix(SKY, vec3(0.25, 0.4, 0.7), clamp(direction.y * 2.0, 0.0, 1.0));
    }
    uint index = rayQueryGetIntersectionInstanceCustomIndexEXT(query, true);
    ThrongHit hit = throng_hit(index, rayQueryGetIntersectionGeometryIndexEXT(query, true),
                               rayQueryGetIntersectionPrimitiveIndexEXT(query, true),
                               rayQueryGetIntersectionBarycentricsEXT(query, true));
    vec3 normal = dot(hit.normal, direction) > 0.0 ? -hit.normal : hit.normal;
    return lit(hit.color.rgb, normal, in_shadow(hit.position + normal * 0.002, 0.002));
}

void main() {
    uvec2 pixel = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(pixel, size))) {
        return;
    }
    vec3 sum = vec3(0.0);
    for (uint i = 0u; i < 4u; ++i) {
        vec2 within = (vec2(i & 1u, i >> 1) + 0.5) / 2.0;
        vec2 clip = (vec2(pixel) + within) / vec2(size) * 2.0 - 1.0;
        vec4 on_far = world_from_clip * vec4(clip, 0.5, 1.0);
        vec3 origin = eye.xyz, direction = normalize(on_far.xyz / on_far.w - eye.xyz);
        bool mirrored;
        vec3 color = trace(origin, direction, mirrored);
        if (mirrored) {
            color = 0.85 * trace(origin, direction, mirrored) + vec3(0.01, 0.02, 0.03);
        }
        sum += color;
    }
    vec3 srgb = pow(clamp(sum / 4.0, 0.0, 1.0), vec3(1.0 / 2.2));
    pixels[pixel.y * size.x + pixel.x] = packUnorm4x8(vec4(srgb, 1.0));
}
