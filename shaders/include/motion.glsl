// Motion in the framebuffer since the last frame of the view: normalised device coordinates, now
// minus then.

layout(location = 6) in vec4 in_now;
layout(location = 7) in vec4 in_then;

layout(location = 0) out vec2 out_motion;

vec2 motion() {
    // A point that was behind the eye has no position in that frame.
    vec2 now = in_now.xy / in_now.w;
    return now - (in_then.w > 0.0 ? in_then.xy / in_then.w : now);
}
