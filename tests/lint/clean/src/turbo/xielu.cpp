// xIELU: elementwise, so its HIP port is right at any width.
#include "kernel_port.h"

#include <mutex>
#include <optional>

namespace engine {
namespace {

namespace mx = mlx::core;
namespace fast = mlx::core::fast;

constexpr const char *kXieluMetalSource = R"(
  uint i = thread_position_in_grid.x;
  if (i >= x_shape[0]) return;
  y[i] = T(xielu(float(x[i]), params[0], params[1])); // simd_sum is not used
)";

constexpr const char *kXieluHipSource = R"hip(
  // no __shfl here, and "warpSize" is only a word in this comment
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= x_shape[0]) return;
  const float v = static_cast<float>(x[i]);
  y[i] = static_cast<T>(v > 0 ? params[0] * v * v : params[1] * v);
)hip";

struct XieluMetal {
  const CustomKernelFunction &get() {
    std::call_once(once_, [this] {
      kernel_ = fast::metal_kernel("fused_xielu", {"x", "params"}, {"y"}, kXieluMetalSource);
    });
    return *kernel_;
  }
  std::once_flag once_;
  std::optional<CustomKernelFunction> kernel_;
};

#ifdef ENGINE_ROCM
struct XieluHip {
  const CustomKernelFunction &get() {
    std::call_once(once_, [this] {
      kernel_ = fast::hip_kernel("fused_xielu", {"x", "params"}, {"y"}, kXieluHipSource);
    });
    return *kernel_;
  }
  std::once_flag once_;
  std::optional<CustomKernelFunction> kernel_;
};
#endif

XieluMetal &xielu_metal_holder() {
  static XieluMetal holder;
  return holder;
}

#ifdef ENGINE_ROCM
XieluHip &xielu_hip_holder() {
  static auto *holder = new XieluHip(); // never destroyed
  return *holder;
}
#endif

const KernelPorts xielu_ports = {
    .metal = +[]() -> const CustomKernelFunction & { return xielu_metal_holder().get(); },
    .cuda = nullptr,
#ifdef ENGINE_ROCM
    .rocm = +[]() -> const CustomKernelFunction & { return xielu_hip_holder().get(); },
    .rocm_any_wave_size = true,
#endif
};

} // namespace

bool fused_xielu_available() { return has_kernel_port(xielu_ports); }

mx::array fused_xielu(const mx::array &x, float alpha_p, float alpha_n) {
  const auto &kernel = select_kernel_port("fused_xielu", "graph fallback", xielu_ports);
  const mx::array params({alpha_p, alpha_n}, mx::float32);
  const int total = static_cast<int>(x.size());
  return kernel({x, params}, {x.shape()}, {x.dtype()}, {total, 1, 1}, {256, 1, 1},
                {{"T", x.dtype()}}, std::nullopt, false, {})[0];
}

} // namespace engine
