#version 460
// A triangle wave of period 1 and amplitude 1, zero and rising at 0.
#extension GL_ARM_tensors : require

layout(local_size_x = 64) in;

layout(set = 0, binding = 0) uniform readonly tensorARM<float, 1> phase;
layout(set = 0, binding = 1) uniform writeonly tensorARM<float, 1> wave;

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= tensorSizeARM(wave, 0)) return;
    float x;
    tensorReadARM(phase, uint[](index), x);
    float y = x - 0.25;
    tensorWriteARM(wave, uint[](index), 1.0 - 4.0 * abs(y - floor(y + 0.5)));
}
