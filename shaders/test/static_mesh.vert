// Test only: a static mesh of an engine that knows nothing of throng: positions from a vertex
// buffer.
#version 460

layout(location = 0) in vec3 in_position;

layout(push_constant) uniform Push {
    mat4 clip_from_world;
    vec4 world_from_model[3];  // rows
};

void main() {
    vec3 p = in_position;
    precise vec3 world;
    for (int r = 0; r < 3; ++r) {
        vec4 row = world_from_model[r];
        world[r] = fma(row.x, p.x, fma(row.y, p.y, fma(row.z, p.z, row.w)));
    }
    precise vec4 clip = fma(clip_from_world[0], vec4(world.x),
                            fma(clip_from_world[1], vec4(world.y),
                                fma(clip_from_world[2], vec4(world.z), clip_from_world[3])));
    gl_Position = clip;
}
