// Motion in the framebuffer since the last frame of the view: normalised device coordinates, now
// minus then, times the scale of the pass.

// PassDesc::motion_scale.
layout(constant_id = 1001) const float MOTION_SCALE_X = 1.0;
layout(constant_id = 1002) const float MOTION_SCALE_Y = 1.0;

layout(location = 6) in vec4 in_now;
layout(location = 7) in vec4 in_then;

layout(location = 0) out vec2 out_motion;

vec2 motion() {
    // A point that was behind the eye has no position in that frame.
    vec2 now = in_now.xy / in_now.w;
    vec2 then = in_then.w > 0.0 ? in_then.xy / in_then.w : now;
    return (now - then) * vec2(MOTION_SCALE_X, MOTION_SCALE_Y);
}
