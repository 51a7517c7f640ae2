// A body, as mlx.core.fast.metal_kernel takes it: x, y, T, x_shape and Metal's attributes are there.
uint i = thread_position_in_grid.x;
if (i >= uint(x_shape[0] * x_shape[1])) return;
float v = static_cast<float>(x[i]);
y[i] = static_cast<T>(v * sigmoid_of(v));
