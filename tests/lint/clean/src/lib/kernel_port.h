// The tables of kernels, and the two questions that read them.
#pragma once
#include "mlx/mlx.h"

namespace engine {

using mlx::core::fast::CustomKernelFunction;

enum class GpuKernelBackend { None = 0, Metal = 1, Cuda = 2, Rocm = 3 };

struct KernelPorts {
  const CustomKernelFunction &(*metal)() = nullptr;
  const CustomKernelFunction &(*cuda)() = nullptr;
  const CustomKernelFunction &(*rocm)() = nullptr;
  bool rocm_any_wave_size = false;
};

GpuKernelBackend gpu_kernel_backend();
bool custom_kernels_available(); // Metal or CUDA: before there were tables
bool gpu_backend_available();
bool has_kernel_port(const KernelPorts &ports);
const CustomKernelFunction &select_kernel_port(const char *entry, const char *fallback,
                                               const KernelPorts &ports);
void set_rocm_warp_size_for_test(int lanes);

} // namespace engine
