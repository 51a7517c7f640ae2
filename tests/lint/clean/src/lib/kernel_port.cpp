#include "kernel_port.h"

#include <cstdio>
#include <cstdlib>

namespace engine {
namespace {

constexpr int kBackends = 4;
static_assert(static_cast<int>(GpuKernelBackend::Rocm) == kBackends - 1,
              "extend KernelPorts, port_for and each table");

int warp_size_override = 0;

const char *backend_name(GpuKernelBackend backend) {
  switch (backend) {
  case GpuKernelBackend::None: return "none";
  case GpuKernelBackend::Metal: return "metal";
  case GpuKernelBackend::Cuda: return "cuda";
  case GpuKernelBackend::Rocm: return "rocm";
  }
  return "?";
}

GpuKernelBackend resolve() {
  if (mlx::core::metal::is_available()) return GpuKernelBackend::Metal;
#ifdef ENGINE_ROCM
  if (mlx::core::rocm::is_available()) return GpuKernelBackend::Rocm;
#endif
  if (mlx::core::cu::is_available()) return GpuKernelBackend::Cuda;
  return GpuKernelBackend::None;
}

constexpr bool rocm_port_allowed(bool any_wave, int warp) { return any_wave || warp == 32; }

auto port_for(const KernelPorts &ports, GpuKernelBackend backend)
    -> const CustomKernelFunction &(*)() {
  switch (backend) {
  case GpuKernelBackend::Metal: return ports.metal;
  case GpuKernelBackend::Cuda: return ports.cuda;
  case GpuKernelBackend::Rocm:
    return ports.rocm && rocm_port_allowed(ports.rocm_any_wave_size, warp_size_override)
               ? ports.rocm
               : nullptr;
  case GpuKernelBackend::None: return nullptr;
  }
  return nullptr;
}

} // namespace

GpuKernelBackend gpu_kernel_backend() {
  static const GpuKernelBackend backend = [] {
    const GpuKernelBackend found = resolve();
    if (std::getenv("ENGINE_DEBUG_KERNEL_BACKEND"))
      std::fprintf(stderr, "kernel backend: %s\n", backend_name(found));
    return found;
  }();
  return backend;
}

bool custom_kernels_available() {
  const auto backend = gpu_kernel_backend();
  return backend == GpuKernelBackend::Metal || backend == GpuKernelBackend::Cuda;
}

bool gpu_backend_available() { return gpu_kernel_backend() != GpuKernelBackend::None; }

bool has_kernel_port(const KernelPorts &ports) {
  return port_for(ports, gpu_kernel_backend()) != nullptr;
}

const CustomKernelFunction &select_kernel_port(const char *entry, const char *fallback,
                                               const KernelPorts &ports) {
  const auto backend = gpu_kernel_backend();
  if (auto port = port_for(ports, backend)) return port();
  if (backend == GpuKernelBackend::Rocm && ports.rocm)
    throw std::runtime_error(std::string("[") + entry + "] held by its width; take the " + fallback);
  throw std::runtime_error(std::string("[") + entry + "] no port; take the " + fallback);
}

void set_rocm_warp_size_for_test(int lanes) { warp_size_override = lanes; }

} // namespace engine
