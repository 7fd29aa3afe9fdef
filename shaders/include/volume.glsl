// Stage cull: the box that contains the vertices of an instance: see GpuActor::VOLUME_SHIFT.

const uint VOLUME_SHIFT = 5u, VOLUMES = 2047u, REST_BOX = 1u;

// The boxes of a character: two rows each, in reverse order, before its shared poses.
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Boxes {
    vec4 rows[];
};

// A box in world space: its center, and half of its edges, which need not be perpendicular. Or a
// sphere, which has a radius that is not negative.
struct Volume {
    vec3 center;
    mat3 edges;
    float radius;
};

// Whether the instance of this lane keeps to its box, or 2 until that is known.
uint kept_box = 2u;

// True if the palette of an instance is one that its box is for: the rest palette, or a shared
// one. Only then, all views that may show it allow a shared pose.
bool keeps_to_box(const Actor actor, const uint instance) {
    if (kept_box < 2u) {
        return kept_box != 0u;
    }
    uint number = actor.flags >> VOLUME_SHIFT & VOLUMES;
    bool keeps = number != 0u;
    for (uint view = 0u; number > REST_BOX && view < ALL_VIEWS && keeps; ++view) {
        View own = view_of(view);
        if (allowed(own, actor, instance)) {
            keeps = EYES ? may_share_by_eyes(own, actor)
                         : may_share(own, actor, distance_squared(own, actor));
        }
    }
    kept_box = keeps ? 1u : 0u;
    return keeps;
}

// The box of an instance of a character, if it keeps to one, or else its sphere.
Volume volume_of(const Actor actor, const uint instance, const uint character) {
    Volume volume = Volume(actor.center, mat3(actor.radius), actor.radius);
    uvec2 directory = uvec2(work[character + CHARACTER_SHARED],
                            work[character + CHARACTER_SHARED + 1u]);
    if (directory == uvec2(0u) || !keeps_to_box(actor, instance)) {
        return volume;
    }
    uint borrow;
    uint before = (actor.flags >> VOLUME_SHIFT & VOLUMES) * 32u;
    uint low = usubBorrow(directory.x, before, borrow);
    Boxes boxes = Boxes(uvec2(low, directory.y - borrow));
    vec3 center = boxes.rows[0].xyz, half_edges = boxes.rows[1].xyz;
    vec4 x = table_rows[instance * INSTANCE_ROWS];
    vec4 y = table_rows[instance * INSTANCE_ROWS + 1u];
    vec4 z = table_rows[instance * INSTANCE_ROWS + 2u];
    vec4 point = vec4(center, 1.0);
    volume.center = vec3(dot(x, point), dot(y, point), dot(z, point));
    volume.edges = mat3(vec3(x.x, y.x, z.x) * half_edges.x, vec3(x.y, y.y, z.y) * half_edges.y,
                        vec3(x.z, y.z, z.z) * half_edges.z);
    volume.radius = -1.0;
    return volume;
}
