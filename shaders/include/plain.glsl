// The least that skinning needs, for benches/isa.rs: what a programmer would write for one kind of
// vertex. 8-bit joints and weights, matrices, sums of weighted matrices, no checks.

struct PlainMatrix {
    vec4 rows[3];
};
struct PlainInstance {
    vec4 world_from_model[3];
    uint palette;  // its first entry
    uint reserved[3];
};

layout(set = 0, binding = 0, std430) readonly buffer Palettes { PlainMatrix palettes[]; };
layout(set = 0, binding = 1, std430) readonly buffer Instances { PlainInstance instances[]; };
// Two for each vertex: position and octahedral normal; octahedral tangent, joints, weights, and
// texture coordinates as halves.
layout(set = 0, binding = 2, std430) readonly buffer Vertices { uvec4 vertices[]; };

vec3 octahedral(uint word) {
    vec2 e = unpackSnorm2x16(word);
    vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
    float fold = max(-n.z, 0.0);
    n.xy += mix(vec2(fold), vec2(-fold), greaterThanEqual(n.xy, vec2(0.0)));
    return normalize(n);
}

uvec4 joints_of(uvec4 vertex) {
    return uvec4(vertex.y & 255u, vertex.y >> 8 & 255u, vertex.y >> 16 & 255u, vertex.y >> 24);
}

vec4[3] blended(uint palette, uvec4 vertex) {
    uvec4 joints = joints_of(vertex);
    vec4 weights = unpackUnorm4x8(vertex.z);
    vec4 x = vec4(0.0), y = vec4(0.0), z = vec4(0.0);
    for (int at = 0; at < 4; ++at) {
        PlainMatrix entry = palettes[palette + joints[at]];
        x += weights[at] * entry.rows[0];
        y += weights[at] * entry.rows[1];
        z += weights[at] * entry.rows[2];
    }
    return vec4[3](x, y, z);
}

vec3 point(vec4 rows[3], vec3 position) {
    vec4 p = vec4(position, 1.0);
    return vec3(dot(rows[0], p), dot(rows[1], p), dot(rows[2], p));
}

vec3 turn(vec4 rows[3], vec3 d) {
    return vec3(dot(rows[0].xyz, d), dot(rows[1].xyz, d), dot(rows[2].xyz, d));
}
