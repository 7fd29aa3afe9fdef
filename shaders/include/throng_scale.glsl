// How a matrix is scaled before products of its elements. A part of throng.glsl.

// The rows scaled to a largest element of 1. Products of the elements neither overflow nor vanish
// then. All of them are 0 if the largest is.
void throng_scale_to_one(inout vec3 a, inout vec3 b, inout vec3 c) {
    vec3 m = max(max(abs(a), abs(b)), abs(c));
    float largest = max(max(m.x, m.y), m.z);
    float scale = largest > 0.0 ? largest : 1.0;
    a /= scale;
    b /= scale;
    c /= scale;
}
