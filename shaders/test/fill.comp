// Test only: fills a buffer.
#version 460

layout(local_size_x = 16) in;

layout(set = 0, binding = 0, std430) writeonly buffer Filled {
    uint filled[];
};

void main() {
    filled[gl_GlobalInvocationID.x] = 7u;
}
