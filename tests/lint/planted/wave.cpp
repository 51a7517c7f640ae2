#include "kernel_port.h"
static const char *const k_shuffle = R"k(
  const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i];
  v += __shfl_xor(v, 16);
)k";
struct H_shuffle { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("shuffle", {"x"}, {"out"}, k_shuffle); return f; } };
static H_shuffle h_shuffle;
static const KernelPorts shuffle_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_shuffle.get(); },
    .rocm_any_wave_size = true, // L5
};
static const char *const k_ballot = R"k(
  const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i];
  out[0] = __ballot(x[0] > 0);
)k";
struct H_ballot { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("ballot", {"x"}, {"out"}, k_ballot); return f; } };
static H_ballot h_ballot;
static const KernelPorts ballot_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_ballot.get(); },
    .rocm_any_wave_size = true, // L5
};
static const char *const k_builtin = R"k(
  const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i];
  v = __builtin_amdgcn_readfirstlane(v);
)k";
struct H_builtin { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("builtin", {"x"}, {"out"}, k_builtin); return f; } };
static H_builtin h_builtin;
static const KernelPorts builtin_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_builtin.get(); },
    .rocm_any_wave_size = true, // L5
};
static const char *const k_warp_size = R"k(
  const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i];
  if (i % warpSize == 0) out[0] = v;
)k";
struct H_warp_size { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("warp_size", {"x"}, {"out"}, k_warp_size); return f; } };
static H_warp_size h_warp_size;
static const KernelPorts warp_size_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_warp_size.get(); },
    .rocm_any_wave_size = true, // L5
};
static const char *const k_modulo = R"k(
  const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i];
  const int lane = threadIdx.x % 32; out[lane] = v;
)k";
struct H_modulo { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("modulo", {"x"}, {"out"}, k_modulo); return f; } };
static H_modulo h_modulo;
static const KernelPorts modulo_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_modulo.get(); },
    .rocm_any_wave_size = true, // L5
};
static const char *const k_mask = R"k(
  const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i];
  const int lane = 31 & threadIdx.x; out[lane] = v;
)k";
struct H_mask { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("mask", {"x"}, {"out"}, k_mask); return f; } };
static H_mask h_mask;
static const KernelPorts mask_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_mask.get(); },
    .rocm_any_wave_size = true, // L5
};
static const char *const k_shift = R"k(
  const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i];
  const int t = threadIdx.x; out[t >> 5] = v;
)k";
struct H_shift { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("shift", {"x"}, {"out"}, k_shift); return f; } };
static H_shift h_shift;
static const KernelPorts shift_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_shift.get(); },
    .rocm_any_wave_size = true, // L5
};
static const char *const k_divide = R"k(
  const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i];
  const int t = (int)threadIdx.x; constexpr int W = 32; out[t / W] = v;
)k";
struct H_divide { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("divide", {"x"}, {"out"}, k_divide); return f; } };
static H_divide h_divide;
static const KernelPorts divide_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_divide.get(); },
    .rocm_any_wave_size = true, // L5
};
static const char *const k_macro = R"k(
  const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i];
  
#define LANE (threadIdx.x & 0x1f)
out[LANE] = v;
)k";
struct H_macro { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("macro", {"x"}, {"out"}, k_macro); return f; } };
static H_macro h_macro;
static const KernelPorts macro_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_macro.get(); },
    .rocm_any_wave_size = true, // L5
};
static const char *const k_quiet = R"k(
  const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i];
  out[i] = v; // __shfl_xor(v, 16), threadIdx.x % 32
)k";
struct H_quiet { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("quiet", {"x"}, {"out"}, k_quiet); return f; } };
static H_quiet h_quiet;
static const KernelPorts quiet_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_quiet.get(); },
    .rocm_any_wave_size = true,
};
static const char *const k_strided = R"k(
  const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = x[i];
  for (int k = threadIdx.x; k < 64; k += 32) out[k] = v / 32;
)k";
struct H_strided { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("strided", {"x"}, {"out"}, k_strided); return f; } };
static H_strided h_strided;
static const KernelPorts strided_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_strided.get(); },
    .rocm_any_wave_size = true,
};
static const char *const k_head = "x";
static std::string k_pieces = std::string(R"(out[0] = 1;)") + R"(out[1] = 2;)";
struct H_pieces { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("p", {"x"}, {"out"}, k_pieces); return f; } };
static H_pieces h_pieces;
static const KernelPorts pieces_ports = {nullptr, nullptr, +[]() -> const CustomKernelFunction & { return h_pieces.get(); }, true}; // L5
struct H_header { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("p", {"x"}, {"out"}, k_quiet, k_head); return f; } };
static H_header h_header;
static const KernelPorts header_ports = {nullptr, nullptr, +[]() -> const CustomKernelFunction & { return h_header.get(); }, true}; // L5
struct H_unknown { const CustomKernelFunction &get() { static CustomKernelFunction f = mlx::core::fast::hip_kernel("p", {"x"}, {"out"}, read_file("p.hip")); return f; } };
static H_unknown h_unknown;
constexpr bool kAny = true;
static const KernelPorts unknown_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_unknown.get(); },
    .rocm_any_wave_size = kAny, // L5
};
static const KernelPorts narrow_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return h_shuffle.get(); },
    .rocm_any_wave_size = false,
};
mlx::core::fast::CustomKernelFunction build(const char *name, std::string source) {
  return mlx::core::fast::hip_kernel(name, {"x"}, {"out"}, std::move(source));
}
struct H_built { CustomKernelFunction &get() { static auto f = build("b", k_shift); return f; } };
static H_built h_built;
static KernelPorts late_ports = {.rocm = +[]() -> const CustomKernelFunction & { return h_built.get(); }};
void mark() { late_ports.rocm_any_wave_size = true; } // L5
struct H_given {
  explicit H_given(std::string source) : fn(mlx::core::fast::hip_kernel("c", {"x"}, {"out"}, source)) {}
  CustomKernelFunction &get() { return fn; }
  CustomKernelFunction fn;
};
const CustomKernelFunction &given_kernel() { static H_given h(R"(out[0] = __any(x[0] > 0);)"); return h.get(); }
const KernelPorts given_ports = {.rocm = given_kernel, .rocm_any_wave_size = true}; // L5
void seam() { set_rocm_warp_size_for_test(64); } // L8
