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

// A direction of any length, from two numbers on an octahedron that are 32767 at 1. After Cigolle
// et al., "A Survey of Efficient Representations for Independent Unit Vectors", 2014.
vec3 throng_octahedral(const uint word) {
    vec3 n = vec3(bitfieldExtract(int(word), 0, 16), int(word) >> 16, 0.0);
    n.z = 32767.0 - abs(n.x) - abs(n.y);
    uint fold = floatBitsToUint(max(-n.z, 0.0));
    n.xy -= uintBitsToFloat(floatBitsToUint(n.xy) & 0x80000000u | fold);
    return n;
}

vec3 throng_unit(const vec3 direction) {
    return direction * inversesqrt(max(dot(direction, direction), 1e-37));
}

// A vertex's normal, of any length.
vec3 throng_normal_direction(const uint primitive, const uint vertex) {
    return throng_octahedral(throng_position_words(primitive, vertex).w);
}

vec3 throng_normal(const uint primitive, const uint vertex) {
    return throng_unit(throng_normal_direction(primitive, vertex));
}

// A vertex's first four influences, as words: with 8-bit joints, four joints, three weights and the
// tangent; with 16-bit joints, four joints and three weights.
uvec4 throng_influence_words(const uint primitive, const uint vertex) {
    return throng_mesh4[(throng_primitives[primitive].influences >> 2) + vertex];
}

uint throng_tangent_word(const uint primitive, const uint vertex) {
    if (throng_has(primitive, THRONG_JOINTS_U16)) {
        return throng_mesh[throng_primitives[primitive].tangents + vertex];
    }
    return throng_influence_words(primitive, vertex).w;
}

// A vertex's tangent, of any length, and the sign of the bitangent: 1 if the first number is even,
// -1 if it is odd.
vec4 throng_tangent_direction(const uint primitive, const uint vertex) {
    uint word = throng_tangent_word(primitive, vertex);
    float side = uintBitsToFloat(word << 31 | 0x3F800000u);
    return vec4(throng_octahedral(word), side);
}

vec4 throng_tangent(const uint primitive, const uint vertex) {
    vec4 tangent = throng_tangent_direction(primitive, vertex);
    return vec4(throng_unit(tangent.xyz), tangent.w);
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

#ifndef THRONG_NO_INSTANCES
// The linear base colour of a vertex, without texture: material x vertex colour x tints. A tint
// with a weight w and a reference r (Material::tint_weights) is the factor 1 + w (tint / r - 1).
//
// If the material has a mask (Material::tint_mask), the tints' RGB is not in it: `tints` are the
// factors for throng_masked_tint then, and otherwise 1.
vec4 throng_base(const uint instance, const uint primitive, const uint vertex,
                 out vec3 tints[2]) {
    vec4 color = throng_primitives[primitive].base_color;
    vec4 rule = throng_primitives[primitive].tint;
    float second_weight = throng_primitives[primitive].second_tint_weight;
    if (throng_has(primitive, THRONG_VARIES)) {
        uint at = throng_material(instance, primitive) * THRONG_MATERIAL_ROWS;
        color = uintBitsToFloat(throng_mesh4[at]);
        second_weight = uintBitsToFloat(throng_mesh4[at + 3u].y);
        rule = uintBitsToFloat(throng_mesh4[at + 4u]);
    }
    vec4 tint = throng_tint(instance);
    float weight = 1.0;
    if (throng_has(primitive, THRONG_HAS_COLORS)) {
        vec4 own = throng_color(primitive, vertex);
        if (throng_has(primitive, THRONG_TINT_BY_ALPHA)) {
            weight = own.a;
            own.a = 1.0;
        }
        color *= own;
    }
    tints = vec3[2](vec3(1.0), vec3(1.0));
    if (throng_has(primitive, THRONG_TINT_WEIGHTS)) {
        tint.rgb *= rule.rgb;
        weight *= rule.a;
        vec3 second = throng_second_tint(instance) * rule.rgb;
        tints[1] = mix(vec3(1.0), second, second_weight);
    }
    bool weighted = throng_has(primitive, THRONG_TINT_BY_ALPHA | THRONG_TINT_WEIGHTS);
    tints[0] = weighted ? mix(vec3(1.0), tint.rgb, weight) : tint.rgb;
    color.a *= tint.a;
    if (!throng_has(primitive, THRONG_TINT_BY_MASK)) {
        color.rgb *= tints[0] * tints[1];
        tints = vec3[2](vec3(1.0), vec3(1.0));
    }
    return color;
}

vec4 throng_base(const uint instance, const uint primitive, const uint vertex) {
    vec3 tints[2];
    return throng_base(instance, primitive, vertex, tints);
}
#endif

uvec4 throng_unpack_u16(const uvec2 words) {
    return uvec4(words.x & 0xFFFFu, words.x >> 16, words.y & 0xFFFFu, words.y >> 16);
}

// Four unorm16. unpackUnorm2x16 may round in its own way in each shader.
vec4 throng_unpack_weights(const uvec2 words) {
    precise vec4 weights = vec4(throng_unpack_u16(words)) * (1.0 / 65535.0);
    return weights;
}

// Four influences of a vertex.
struct ThrongInfluences {
    uvec4 joints;  // in the primitive's range of the palette
    vec3 weights;  // of the second to the fourth; the first has the rest
};

ThrongInfluences throng_first_influences(const uint primitive, const uint vertex) {
    uvec4 words = throng_influence_words(primitive, vertex);
    if (throng_has(primitive, THRONG_JOINTS_U16)) {
        vec3 weights = throng_unpack_weights(words.zw).xyz;
        return ThrongInfluences(throng_unpack_u16(words.xy), weights);
    }
    uvec4 joints = uvec4(words.x & 0xFFu, words.x >> 8 & 0xFFu, words.x >> 16 & 0xFFu,
                         words.x >> 24);
    return ThrongInfluences(joints, throng_unpack_weights(words.yz).xyz);
}

// The words of a vertex's further influences: `block` is 1 for the fifth to the eighth.
uvec4 throng_more_influences(const uint primitive, const uint vertex, const uint block) {
    uint blocks = (throng_primitives[primitive].influence_count - 1u) >> 2;
    uint first = throng_primitives[primitive].more_influences >> 2;
    return throng_mesh4[first + vertex * blocks + block - 1u];
}

// The joints of a block of four influences. Where a vertex has fewer, they repeat the first joint.
uvec4 throng_joints(const uint primitive, const uint vertex, const uint block) {
    if (block == 0u) {
        return throng_first_influences(primitive, vertex).joints;
    }
    return throng_unpack_u16(throng_more_influences(primitive, vertex, block).xy);
}

// The weights of a block of four influences. Where a vertex has fewer, they are 0.
vec4 throng_weights(const uint primitive, const uint vertex, const uint block) {
    if (block > 0u) {
        return throng_unpack_weights(throng_more_influences(primitive, vertex, block).zw);
    }
    vec3 weights = throng_first_influences(primitive, vertex).weights;
    float rest = 1.0 - (weights.x + weights.y + weights.z);
    for (uint next = 1u; next * 4u < throng_primitives[primitive].influence_count; ++next) {
        vec4 more = throng_unpack_weights(throng_more_influences(primitive, vertex, next).zw);
        rest -= dot(more, vec4(1.0));
    }
    return vec4(max(rest, 0.0), weights);
}
