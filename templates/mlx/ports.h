#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#ifndef KGEN_MLX_DECLARED // what is used of MLX comes from elsewhere
#include "mlx/backend/cuda/cuda.h"
#include "mlx/backend/metal/metal.h"
#include "mlx/mlx.h"
#endif

// KGEN_KERNEL_PORTS: a header of yours, in quotes, that has KernelPorts, select_kernel_port and has_kernel_port in the
// namespace kgen_mlx; else these are taken.  KGEN_MLX_ROCM: MLX has fast::hip_kernel; without it every rocm slot is empty.
#ifdef KGEN_KERNEL_PORTS
#include KGEN_KERNEL_PORTS
#else
namespace kgen_mlx {

enum class GpuKernelBackend { None = 0, Metal = 1, Cuda = 2, Rocm = 3 };

// nullptr: there is no port on that backend, a normal state.  A getter makes its function at the first call, so that to ask
// compiles nothing.
struct KernelPorts {
  const mlx::core::fast::CustomKernelFunction &(*metal)() = nullptr;
  const mlx::core::fast::CustomKernelFunction &(*cuda)() = nullptr;
  const mlx::core::fast::CustomKernelFunction &(*rocm)() = nullptr;
  bool rocm_any_wave_size = false;
};

#ifdef KGEN_MLX_ROCM
int rocm_warp_size(); // yours: lanes of a wavefront of the current device; 0 where that is not known
bool rocm_available();
#else
inline int rocm_warp_size() { return 0; }
inline bool rocm_available() { return false; }
#endif

inline GpuKernelBackend gpu_kernel_backend() {
  static const GpuKernelBackend found = mlx::core::metal::is_available() ? GpuKernelBackend::Metal
                                        : rocm_available()               ? GpuKernelBackend::Rocm
                                        : mlx::core::cu::is_available()  ? GpuKernelBackend::Cuda
                                                                         : GpuKernelBackend::None;
  return found;
}

constexpr bool rocm_port_allowed(bool any_wave, int warp) { return any_wave || warp == 32; }

inline auto kernel_port_for(const KernelPorts &ports, GpuKernelBackend backend)
    -> const mlx::core::fast::CustomKernelFunction &(*)() {
  switch (backend) {
  case GpuKernelBackend::Metal: return ports.metal;
  case GpuKernelBackend::Cuda: return ports.cuda;
  case GpuKernelBackend::Rocm:
    return ports.rocm && rocm_port_allowed(ports.rocm_any_wave_size, rocm_warp_size()) ? ports.rocm
                                                                                       : nullptr;
  case GpuKernelBackend::None: return nullptr;
  }
  return nullptr;
}

inline bool has_kernel_port(const KernelPorts &ports) {
  return kernel_port_for(ports, gpu_kernel_backend()) != nullptr;
}

inline const mlx::core::fast::CustomKernelFunction &
select_kernel_port(const char *entry, const char *fallback, const KernelPorts &ports) {
  if (auto port = kernel_port_for(ports, gpu_kernel_backend())) return port();
  const bool held = gpu_kernel_backend() == GpuKernelBackend::Rocm && ports.rocm;
  throw std::runtime_error(
      "[" + std::string(entry) + "] " +
      (held ? "the ROCm port is for a 32-lane wavefront and this device reports " +
                  std::to_string(rocm_warp_size()) + " lanes"
            : std::string("no custom kernel port for this GPU backend")) +
      "; callers take this instead: " + fallback);
}

} // namespace kgen_mlx
#endif

namespace kgen_mlx {
namespace own {

namespace mx = mlx::core;

[[noreturn]] inline void refuse(const char *kernel, const std::string &why) {
  throw std::invalid_argument("[" + std::string(kernel) + "] " + why);
}
inline void must(bool holds, const char *kernel, const char *what) {
  if (!holds) refuse(kernel, "must hold: " + std::string(what));
}
inline int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) throw std::invalid_argument("a division by zero in a shape");
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }
inline int64_t ceil_div(int64_t a, int64_t b) { return floor_div(a, b) + (floor_mod(a, b) != 0); }
inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t most(int64_t a, int64_t b) { return a < b ? b : a; }

inline void rank(const char *kernel, const char *name, const mx::array &x, int wanted) {
  if (int(x.ndim()) != wanted)
    refuse(kernel, std::string(name) + " has " + std::to_string(x.ndim()) + " axes, not " +
                       std::to_string(wanted));
}
inline void axis(const char *kernel, const char *name, const mx::array &x, int at, int64_t wanted,
                 const char *text) {
  if (x.shape(at) != wanted)
    refuse(kernel, std::string(name) + "'s axis " + std::to_string(at) + " is " +
                       std::to_string(x.shape(at)) + ", not " + text + " = " +
                       std::to_string(wanted));
}
inline void dtype(const char *kernel, const char *name, mx::Dtype is, std::vector<mx::Dtype> may) {
  for (const mx::Dtype &d : may)
    if (d == is) return;
  refuse(kernel, std::string(name) + " has a dtype that it may not have");
}
inline int to_int(const char *kernel, int64_t value) {
  if (value < 0 || value > INT32_MAX)
    refuse(kernel, "a size of " + std::to_string(value) + " is not one of MLX's");
  return int(value);
}

// On Metal an input of 1 to 7 elements would be in constant memory: eight copies are in device memory, and the kernel, which
// reads its shapes from their ends, reads the first.
inline mx::array seen(const mx::array &x) {
  if (x.size() == 0 || x.size() >= 8 || x.ndim() >= 8) return x;
  mx::Shape shape{8};
  for (int i = 0; i < int(x.ndim()); i++) shape.push_back(x.shape(i));
  return mx::broadcast_to(x, shape);
}

inline std::vector<mx::array>
launch(const char *kernel, const mx::fast::CustomKernelFunction &function,
       const std::vector<mx::array> &inputs, const std::vector<std::vector<int64_t>> &shapes,
       const std::vector<mx::Dtype> &dtypes, const int64_t (&groups)[3],
       const int64_t (&threads)[3],
       const std::vector<std::pair<std::string, mx::fast::TemplateArg>> &chosen,
       mx::StreamOrDevice s) {
  std::vector<mx::Shape> sizes;
  for (const auto &shape : shapes) {
    mx::Shape size;
    for (int64_t n : shape) size.push_back(to_int(kernel, n));
    sizes.push_back(size);
  }
  const int grid[3] = {to_int(kernel, groups[0] * threads[0]),
                       to_int(kernel, groups[1] * threads[1]),
                       to_int(kernel, groups[2] * threads[2])};
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) { // there is nothing to do
    std::vector<mx::array> none;
    for (size_t i = 0; i < sizes.size(); i++) none.push_back(mx::zeros(sizes[i], dtypes[i], s));
    return none;
  }
  return function(inputs, sizes, dtypes, {grid[0], grid[1], grid[2]},
                  {int(threads[0]), int(threads[1]), int(threads[2])}, chosen, std::nullopt, false,
                  s);
}

} // namespace own
} // namespace kgen_mlx
