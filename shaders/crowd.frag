// Base colour under one directional light and a sky.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/throng.glsl"

layout(push_constant) uniform Draw { uint primitive_index; };

layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec2 in_uv;
layout(location = 3) in vec4 in_color;

layout(location = 0) out vec4 out_color;

void main() {
    vec3 to_eye = throng_view.eye.xyz - in_position * throng_view.eye.w;
    // A primitive without normals is flat: its triangle's own normal, turned towards the eye, which
    // makes it independent of the viewport's sign and of winding.
    vec3 facet = cross(dFdx(in_position), dFdy(in_position));
    facet = dot(facet, to_eye) < 0.0 ? -facet : facet;
    bool has_normals = (throng_primitives[primitive_index].flags & THRONG_HAS_NORMALS) != 0u;
    // Back faces are seen only where the material is double-sided: the surface's other side.
    vec3 normal = has_normals ? in_normal * (dot(in_normal, facet) < 0.0 && !gl_FrontFacing ? -1.0 : 1.0) : facet;
    normal *= inversesqrt(max(dot(normal, normal), 1e-30));

    vec4 base = in_color * texture(throng_base_color, in_uv);
    float sun = max(dot(normal, throng_view.sun_direction.xyz), 0.0);
    vec3 sky = mix(throng_view.ground_color.rgb, throng_view.sky_color.rgb, normal.y * 0.5 + 0.5);
    out_color = vec4(base.rgb * (sun * throng_view.sun_color.rgb + sky), 1.0);
}
