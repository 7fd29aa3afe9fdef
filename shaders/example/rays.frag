// Example rays: shows what rays.comp has traced.
#version 460

layout(set = 0, binding = 1, std430) readonly buffer Pixels { uvec2 pixels[]; };

layout(push_constant) uniform Push {
    layout(offset = 96) uvec2 size;
};

layout(location = 0) out vec4 out_color;

void main() {
    uvec2 pixel = uvec2(gl_FragCoord.xy);
    uvec2 halves = pixels[pixel.y * size.x + pixel.x];
    // The image is sRGB, so it takes linear colours.
    out_color = vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y));
}
