// The draw stage where only depth is wanted: positions and influences are all that is read.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "include/draw.glsl"

void main() {
    ThrongPrimitive primitive = throng_primitives[primitive_index];
    ThrongInstance instance = throng_instances[throng_visible[gl_InstanceIndex]];
    gl_Position = place(instance, throng_deform_position(instance, primitive, uint(gl_VertexIndex)));
}
