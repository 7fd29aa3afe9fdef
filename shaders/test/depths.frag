// Test only: a depth of 24 bits that follows from the pixel and the number of the sample.
#version 460

layout(push_constant) uniform Push { uint number; };

void main() {
    uvec2 pixel = uvec2(gl_FragCoord.xy);
    uint mixed = pixel.x * 0x9E3779B1u ^ pixel.y * 0x85EBCA77u ^ number * 0xC2B2AE3Du;
    mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6Du;
    mixed ^= mixed >> 12;
    gl_FragDepth = float(mixed >> 8) / 16777216.0;
}
