// Conversion of skinning matrices to palette entries. A part of animate.comp. It follows
// PaletteEntry::project and src/palette/project.rs.

const uint LINEAR = 0u;
const uint DUAL_QUAT = 1u;
const uint DUAL_QUAT_STRETCH = 2u;
const uint QUAT_OFFSET = 3u;

// An axis shorter than this, relative to the longest one, has no direction.
const float FLAT = 1e-6;

layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer Palette {
    vec4 rows[];
};

// Rows of an entry.
uint entry_rows(const uint method) {
    return method == LINEAR || method == DUAL_QUAT_STRETCH ? 3u : 2u;
}

// A unit vector across another one (Duff et al., "Building an Orthonormal Basis, Revisited", 2017).
vec3 any_across(const vec3 v) {
    float side = v.z < 0.0 ? -1.0 : 1.0;
    float a = -1.0 / (side + v.z);
    float b = v.x * v.y * a;
    return vec3(b, side + v.y * v.y * a, -v.y);
}

// True if a vector has a direction, which it then becomes.
bool has_direction(inout vec3 v) {
    float size = length(v);
    if (size > FLAT) {
        v /= size;
        return true;
    }
    return false;
}

// The rotation nearest to three columns, by Gram–Schmidt orthonormalisation.
mat3 orthonormal(const vec3 a, const vec3 b, const vec3 c) {
    vec3 x = a;
    if (has_direction(x)) {
        vec3 y = b - x * dot(x, b);
        if (!has_direction(y)) {
            vec3 z = c - x * dot(x, c);
            y = has_direction(z) ? cross(z, x) : any_across(x);
        }
        return mat3(x, y, cross(x, y));
    }
    vec3 y = b;
    if (has_direction(y)) {
        vec3 z = c - y * dot(y, c);
        if (!has_direction(z)) {
            z = any_across(y);
        }
        return mat3(cross(y, z), y, z);
    }
    vec3 z = c;
    if (has_direction(z)) {
        y = any_across(z);
        return mat3(cross(y, z), y, z);
    }
    return mat3(1.0);
}

// A rotation as a unit quaternion (Mike Day, "Converting a Rotation Matrix to a Quaternion").
vec4 quaternion(const mat3 m) {
    vec4 q;
    if (m[2].z <= 0.0) {
        float difference = m[1].y - m[0].x;
        float rest = 1.0 - m[2].z;
        if (difference <= 0.0) {
            q = vec4(rest - difference, m[0].y + m[1].x, m[0].z + m[2].x, m[1].z - m[2].y);
        } else {
            q = vec4(m[0].y + m[1].x, rest + difference, m[1].z + m[2].y, m[2].x - m[0].z);
        }
    } else {
        float total = m[1].y + m[0].x;
        float rest = 1.0 + m[2].z;
        if (total <= 0.0) {
            q = vec4(m[0].z + m[2].x, m[1].z + m[2].y, rest - total, m[0].y - m[1].x);
        } else {
            q = vec4(m[1].z - m[2].y, m[2].x - m[0].z, m[0].y - m[1].x, rest + total);
        }
    }
    return q / length(q);
}

// Half the product of a translation and a rotation.
vec4 dual_part(const vec3 t, const vec4 q) {
    return 0.5 * vec4(t * q.w + cross(t, q.xyz), -dot(t, q.xyz));
}

// Writes entry number `entry` of a palette.
void write_entry(const Palette palette, const uint entry, const uint method, const vec4 i,
                 const vec4 j, const vec4 k) {
    if (method == LINEAR) {
        palette.rows[entry * 3u] = i;
        palette.rows[entry * 3u + 1u] = j;
        palette.rows[entry * 3u + 2u] = k;
        return;
    }
    // Divided by the largest element, so that no square overflows or vanishes.
    vec3 most = max(max(abs(i.xyz), abs(j.xyz)), abs(k.xyz));
    float largest = max(max(most.x, most.y), most.z);
    float by = largest > 0.0 ? largest : 1.0;
    vec3 a = vec3(i.x, j.x, k.x) / by, b = vec3(i.y, j.y, k.y) / by, c = vec3(i.z, j.z, k.z) / by;
    vec4 rotation = quaternion(orthonormal(a, b, c));
    vec3 translation = vec3(i.w, j.w, k.w);
    vec3 stretch = vec3(length(a), length(b), length(c)) * by;
    if (method == QUAT_OFFSET) {
        palette.rows[entry * 2u] = rotation;
        palette.rows[entry * 2u + 1u] =
            vec4(translation, (stretch.x + stretch.y + stretch.z) / 3.0);
        return;
    }
    uint rows = method == DUAL_QUAT ? 2u : 3u;
    palette.rows[entry * rows] = rotation;
    palette.rows[entry * rows + 1u] = dual_part(translation, rotation);
    if (method == DUAL_QUAT_STRETCH) {
        palette.rows[entry * rows + 2u] = vec4(stretch, 0.0);
    }
}
