#include "kernel_port.h"
using B = GpuKernelBackend;
constexpr auto kHip = GpuKernelBackend::Rocm;
#define ON_METAL(b) ((b) == GpuKernelBackend::Metal)
GpuKernelBackend gpu_kernel_backend();
int go(int);

int plain() { if (gpu_kernel_backend() == GpuKernelBackend::Metal) return go(1); return 0; } // L1
int reversed() { if (GpuKernelBackend::Cuda == gpu_kernel_backend()) return go(1); return 0; } // L1
int unequal() { if (gpu_kernel_backend() != engine::GpuKernelBackend::Rocm) return go(1); return 0; } // L1
int aliased() { return gpu_kernel_backend() == B::Rocm ? 64 : 32; } // L1
int cast() { return static_cast<int>(gpu_kernel_backend()) == static_cast<int>(GpuKernelBackend::Cuda); } // L1
int cast_c() { return int(gpu_kernel_backend()) == int(GpuKernelBackend::Cuda); } // L1
int grouped() { return gpu_kernel_backend() == (GpuKernelBackend::Cuda); } // L1
int named() { return gpu_kernel_backend() == kHip; } // L1
int by_macro() { return ON_METAL(gpu_kernel_backend()); } // L1
int using_enum() { using enum GpuKernelBackend; return gpu_kernel_backend() == Metal; } // L1
int local() { using GpuKernelBackend::Cuda; return Cuda == gpu_kernel_backend(); } // L1
int switched() {
  switch (gpu_kernel_backend()) {
  case GpuKernelBackend::Metal: return go(1); // L1
  case GpuKernelBackend::Cuda: return go(2);
  default: return 0;
  }
}
int in_lambda() { auto is = [](GpuKernelBackend b) { return b == /* */ GpuKernelBackend::Metal; }; return is(kHip); } // L1

const char *name(GpuKernelBackend b) {
  switch (b) {
  case GpuKernelBackend::Metal: return "metal";
  case GpuKernelBackend::Cuda: return "cuda";
  default: return "none";
  }
}
bool any() { return gpu_kernel_backend() != GpuKernelBackend::None; }
static_assert(static_cast<int>(GpuKernelBackend::Rocm) == 3, "");
int other(Color c) { return c == Color::Metal; }
const char *text = "b == GpuKernelBackend::Metal";
