const int col = blockIdx.x * blockDim.x + threadIdx.x;
const int cols = x_shape[1];
if (col >= cols) return;
const long long i = blockIdx.y * x_strides[0] + col;
y[i] = static_cast<T>(static_cast<float>(x[i]) * a[0] + b[col]);
