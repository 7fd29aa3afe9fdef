// Example rays: a picture by ray queries alone. A ground with shadows, a mirror, and a crowd.
#version 460
#extension GL_EXT_ray_query : require
#extension GL_GOOGLE_include_directive : require

#include "../include/throng_hit.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform accelerationStructureEXT people;
layout(set = 0, binding = 1, std430) writeonly buffer Pixels { uvec2 pixels[]; };  // half floats

layout(push_constant) uniform Push {
    mat4 world_from_clip;
    vec4 eye;
    vec4 sun;      // unit, towards the sun
    uvec2 size;    // of the image, in pixels
    uint samples;  // of a pixel in each direction
};

const float FAR = 200.0;
const vec3 SKY = vec3(0.45, 0.6, 0.85);
// A mirror that stands behind the crowd: a rectangle in the plane of this z.
const float MIRROR_Z = -9.0;
const vec2 MIRROR_HALF = vec2(9.0, 3.2);

rayQueryEXT query;

// True if a ray meets a person, about whom the query then tells.
bool meets(const vec3 origin, const float start, const vec3 direction, const uint flags) {
    rayQueryInitializeEXT(query, people, flags, 0xFF, origin, start, direction, FAR);
    while (rayQueryProceedEXT(query)) {
        uint index = rayQueryGetIntersectionInstanceCustomIndexEXT(query, false);
        uint geometry = rayQueryGetIntersectionGeometryIndexEXT(query, false);
        if (throng_ray_accepts(index, geometry)) {
            rayQueryConfirmIntersectionEXT(query);
        }
    }
    return rayQueryGetIntersectionTypeEXT(query, true)
           != gl_RayQueryCommittedIntersectionNoneEXT;
}

// A surface in the light of the sky, and of the sun if nobody is in between.
vec3 lit(const vec3 position, const vec3 color, const vec3 normal) {
    float direct = max(dot(normal, sun.xyz), 0.0);
    if (meets(position, 0.001, sun.xyz, gl_RayFlagsTerminateOnFirstHitEXT)) {
        direct = 0.0;
    }
    return color * (0.9 * direct + mix(vec3(0.12, 0.1, 0.08), SKY * 0.6, normal.y * 0.5 + 0.5));
}

// The colour along a ray.
vec3 trace(vec3 origin, vec3 direction) {
    vec3 glass = vec3(0.0);
    float through = 1.0, nearest;
    bool met;
    for (uint reflections = 0u; reflections < 2u; ++reflections) {
        met = meets(origin, 0.001, direction, gl_RayFlagsNoneEXT);
        nearest = met ? rayQueryGetIntersectionTEXT(query, true) : FAR;
        float to_mirror = (MIRROR_Z - origin.z) / direction.z;
        vec3 at = origin + direction * to_mirror;
        bool mirrored = to_mirror > 0.001 && to_mirror < nearest && abs(at.x) < MIRROR_HALF.x
                        && at.y > 0.05 && at.y < MIRROR_HALF.y;
        if (!mirrored) {
            break;
        }
        origin = at;
        direction.z = -direction.z;
        glass = vec3(0.01, 0.02, 0.03);
        through = 0.85;
    }
    float to_ground = -origin.y / direction.y;
    vec3 position = origin + direction * to_ground, normal = vec3(0.0, 1.0, 0.0), color;
    float haze = smoothstep(30.0, 90.0, to_ground);
    if (to_ground > 0.0 && to_ground < nearest) {
        vec2 tile = floor(position.xz / 2.0);
        color = mix(vec3(0.36, 0.35, 0.33), vec3(0.44, 0.43, 0.4), mod(tile.x + tile.y, 2.0));
    } else if (met) {
        uint index = rayQueryGetIntersectionInstanceCustomIndexEXT(query, true);
        ThrongHit hit = throng_hit(index, rayQueryGetIntersectionGeometryIndexEXT(query, true),
                                   rayQueryGetIntersectionPrimitiveIndexEXT(query, true),
                                   rayQueryGetIntersectionBarycentricsEXT(query, true));
        normal = dot(hit.normal, direction) > 0.0 ? -hit.normal : hit.normal;
        position = hit.position + normal * 0.003;
        color = hit.color.rgb;
        haze = 0.0;
    } else {
        vec3 sky = mix(SKY, vec3(0.25, 0.4, 0.7), clamp(direction.y * 2.0, 0.0, 1.0));
        return glass + through * sky;
    }
    return glass + through * mix(lit(position, color, normal), SKY, haze);
}

void main() {
    uvec2 pixel = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(pixel, size))) {
        return;
    }
    vec3 sum = vec3(0.0);
    for (uint i = 0u; i < samples * samples; ++i) {
        vec2 within = (vec2(i % samples, i / samples) + 0.5) / float(samples);
        vec2 clip = (vec2(pixel) + within) / vec2(size) * 2.0 - 1.0;
        vec4 on_far = world_from_clip * vec4(clip, 0.5, 1.0);
        sum += trace(eye.xyz, normalize(on_far.xyz / on_far.w - eye.xyz));
    }
    sum /= float(samples * samples);
    pixels[pixel.y * size.x + pixel.x] = uvec2(packHalf2x16(sum.rg), packHalf2x16(vec2(sum.b, 1.0)));
}
