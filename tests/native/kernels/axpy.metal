uint2 at = thread_position_in_grid.xy;
const int cols = x_shape[x_ndim - 1];
if (at.x >= uint(cols)) return;
const int64_t i = int64_t(at.y) * x_strides[0] + at.x;
y[i] = T(float(x[i]) * a + b[at.x]);
