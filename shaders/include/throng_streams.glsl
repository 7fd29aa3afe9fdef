// The streams of a primitive. A part of throng.glsl.
//
// A stream is read in as few loads as its layout allows: position and normal in one, a block of
// four joints or weights in one.

// A vertex's position, as bits, and its packed normal.
uvec4 throng_position_words(const uint primitive, const uint vertex) {
    return throng_mesh4[(throng_primitives[primitive].positions >> 2) + vertex];
}

vec3 throng_position(const uint primitive, const uint vertex) {
    return uintBitsToFloat(throng_position_words(primitive, vertex).xyz);
}

// Three f32 of a morph target.
vec3 throng_vec3(const uint at) {
    return vec3(uintBitsToFloat(throng_mesh[at]), uintBitsToFloat(throng_mesh[at + 1u]),
                uintBitsToFloat(throng_mesh[at + 2u]));
}

// Octahedral decoding, after Cigolle et al., "A Survey of Efficient Representations for Independent
// Unit Vectors", 2014.
vec3 throng_octahedral(const vec2 e) {
    vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
    float fold = max(-n.z, 0.0);
    n.xy += mix(vec2(fold), vec2(-fold), greaterThanEqual(n.xy, vec2(0.0)));
    return normalize(n);
}

vec3 throng_normal(const uint primitive, const uint vertex) {
    return throng_octahedral(unpackSnorm2x16(throng_position_words(primitive, vertex).w));
}

// The lowest bit is the sign of the bitangent: 0 for 1, 1 for -1. The other 15 bits of the lower
// half are x.
vec4 throng_tangent(const uint primitive, const uint vertex) {
    uint word = throng_mesh[throng_primitives[primitive].tangents + vertex];
    float x = max(float(bitfieldExtract(int(word), 1, 15)) / 16383.0, -1.0);
    float y = unpackSnorm2x16(word).y;
    return vec4(throng_octahedral(vec2(x, y)), (word & 1u) != 0u ? -1.0 : 1.0);
}

bool throng_has(const uint primitive, const uint flag) {
    return (throng_primitives[primitive].flags & flag) != 0u;
}

vec2 throng_uv(const uint primitive, const uint vertex) {
    if (!throng_has(primitive, THRONG_HAS_UVS)) {
        return vec2(0.0);
    }
    return uintBitsToFloat(throng_mesh2[(throng_primitives[primitive].uvs >> 1) + vertex]);
}

vec2 throng_uv1(const uint primitive, const uint vertex) {
    if (!throng_has(primitive, THRONG_HAS_UVS1)) {
        return vec2(0.0);
    }
    return uintBitsToFloat(throng_mesh2[(throng_primitives[primitive].uvs1 >> 1) + vertex]);
}

vec4 throng_color(const uint primitive, const uint vertex) {
    uvec2 words = throng_mesh2[(throng_primitives[primitive].colors >> 1) + vertex];
    return vec4(unpackUnorm2x16(words.x), unpackUnorm2x16(words.y));
}

// The linear base colour of a vertex, without texture: material x vertex colour x tint.
vec4 throng_base(const ThrongInstance instance, const uint primitive, const uint vertex) {
    vec4 color = throng_primitives[primitive].base_color;
    vec4 tint = instance.tint;
    if (throng_has(primitive, THRONG_HAS_COLORS)) {
        vec4 own = throng_color(primitive, vertex);
        if (throng_has(primitive, THRONG_TINT_BY_ALPHA)) {
            tint.rgb = mix(vec3(1.0), tint.rgb, own.a);
            own.a = 1.0;
        }
        color *= own;
    }
    return color * tint;
}

// The most influences of a vertex that have to be looked at.
uint throng_influences(const uint primitive) {
    return THRONG_INFLUENCES != 0u ? THRONG_INFLUENCES : throng_primitives[primitive].influences;
}

// The index of a vertex's block of four influences.
uint throng_block(const uint primitive, const uint vertex, const uint block) {
    if (THRONG_INFLUENCES == 4u) {
        return vertex;
    }
    uint blocks = (throng_primitives[primitive].influences + 3u) >> 2;
    return vertex * blocks + block;
}

// The joints of a block of four influences.
uvec4 throng_joints(const uint primitive, const uint vertex, const uint block) {
    uint at = throng_block(primitive, vertex, block);
    uint joints = throng_primitives[primitive].joints;
    if (throng_has(primitive, THRONG_JOINTS_U16)) {
        uvec2 words = throng_mesh2[(joints >> 1) + at];
        return uvec4(words.x & 0xFFFFu, words.x >> 16, words.y & 0xFFFFu, words.y >> 16);
    }
    uint word = throng_mesh[joints + at];
    return uvec4(word & 0xFFu, word >> 8 & 0xFFu, word >> 16 & 0xFFu, word >> 24);
}

// The weights of a block of four influences. Where a vertex has fewer, they are 0.
vec4 throng_weights(const uint primitive, const uint vertex, const uint block) {
    uint at = throng_block(primitive, vertex, block);
    uint weights = throng_primitives[primitive].weights;
    if (throng_has(primitive, THRONG_WEIGHTS_U8)) {
        uint word = throng_mesh[weights + at];
        uvec4 bytes = uvec4(word & 0xFFu, word >> 8 & 0xFFu, word >> 16 & 0xFFu, word >> 24);
        precise vec4 result = vec4(bytes) / 255.0;
        return result;
    }
    uvec2 words = throng_mesh2[(weights >> 1) + at];
    uvec4 shorts = uvec4(words.x & 0xFFFFu, words.x >> 16, words.y & 0xFFFFu, words.y >> 16);
    precise vec4 result = vec4(shorts) / 65535.0;
    return result;
}
