#version 460
// torch.nn.functional.grid_sample on images, one invocation for each output pixel and all its channels.
// Defined from outside: SCALAR (float or float16_t), NEAREST (0 or 1), PADDING (0 zeros, 1 border, 2 reflection),
// ALIGN_CORNERS (0 or 1). The arithmetic is that of PyTorch, in 32 bits for both element types.
#extension GL_ARM_tensors : require
#extension GL_EXT_shader_explicit_arithmetic_types : require

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform readonly tensorARM<SCALAR, 4> image;    // N C H W
layout(set = 0, binding = 1) uniform readonly tensorARM<SCALAR, 4> grid;     // N HO WO 2, x before y, -1 to 1
layout(set = 0, binding = 2) uniform writeonly tensorARM<SCALAR, 4> result;  // N C HO WO

float coordinate(uint n, uint y, uint x, uint axis) {
    SCALAR value;
    tensorReadARM(grid, uint[](n, y, x, axis), value);
    return float(value);
}

// From [-1, 1] to pixels: with ALIGN_CORNERS the ends are the outer pixels' centres, else the image's edges.
float to_pixels(float position, float size) {
#if ALIGN_CORNERS
    return (position + 1.0) / 2.0 * (size - 1.0);
#else
    return ((position + 1.0) * size - 1.0) / 2.0;
#endif
}

float clip(float position, float size) {
    // not clamp(): what it makes of NaN is not defined, and PyTorch makes it 0
    return position > 0.0 ? min(position, size - 1.0) : 0.0;
}

float reflect_at_edges(float position, float size) {
#if ALIGN_CORNERS
    float low = 0.0, span = size - 1.0;
#else
    float low = -0.5, span = size;
#endif
    if (span == 0.0) return 0.0;
    float distance = abs(position - low);
    float flips = floor(distance / span);
    float extra = distance - flips * span;
    return mod(flips, 2.0) == 0.0 ? extra + low : span - extra + low;
}

float source(float position, float size) {
    float pixels = to_pixels(position, size);
#if PADDING == 1
    return clip(pixels, size);
#elif PADDING == 2
    return clip(reflect_at_edges(pixels, size), size);
#else
    return pixels;
#endif
}

// Compared before it becomes an integer, so that no coordinate overflows; NaN is outside.
bool inside(float y, float x, float height, float width) {
    return y >= 0.0 && y < height && x >= 0.0 && x < width;
}

float pixel(uint n, uint c, float y, float x, bool is_inside) {
    if (!is_inside) return 0.0;
    SCALAR value;
    tensorReadARM(image, uint[](n, c, uint(y), uint(x)), value);
    return float(value);
}

void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y, n = gl_GlobalInvocationID.z;
    if (x >= tensorSizeARM(result, 3) || y >= tensorSizeARM(result, 2)) return;
    uint channels = tensorSizeARM(image, 1);
    float height = float(tensorSizeARM(image, 2)), width = float(tensorSizeARM(image, 3));
    float from_x = source(coordinate(n, y, x, 0), width);
    float from_y = source(coordinate(n, y, x, 1), height);
#if NEAREST
    float near_x = roundEven(from_x), near_y = roundEven(from_y);
    bool is_inside = inside(near_y, near_x, height, width);
    for (uint c = 0; c < channels; ++c) {
        tensorWriteARM(result, uint[](n, c, y, x), SCALAR(pixel(n, c, near_y, near_x, is_inside)));
    }
#else
    float west = floor(from_x), north = floor(from_y);
    float east = west + 1.0, south = north + 1.0;
    float north_west = (east - from_x) * (south - from_y), north_east = (from_x - west) * (south - from_y);
    float south_west = (east - from_x) * (from_y - north), south_east = (from_x - west) * (from_y - north);
    bool has_north_west = inside(north, west, height, width), has_north_east = inside(north, east, height, width);
    bool has_south_west = inside(south, west, height, width), has_south_east = inside(south, east, height, width);
    for (uint c = 0; c < channels; ++c) {
        float sum = pixel(n, c, north, west, has_north_west) * north_west;
        sum += pixel(n, c, north, east, has_north_east) * north_east;
        sum += pixel(n, c, south, west, has_south_west) * south_west;
        sum += pixel(n, c, south, east, has_south_east) * south_east;
        tensorWriteARM(result, uint[](n, c, y, x), SCALAR(sum));
    }
#endif
}
