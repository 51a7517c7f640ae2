// ports.cc: the rows of KernelPorts and the launchers of `kgen emit mlx`, with declared.h in MLX's place: one backend at a
// time, both widths, and what a launch hands to MLX.  Reads kernels_mlx.h of the library.
#define KGEN_MLX_DECLARED
#include "declared.h"
#include "kernels_mlx.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mx = mlx::core;

static int backend, width, made, failures; // backend: 0 none, 1 Metal, 2 CUDA, 3 ROCm
static std::tuple<int, int, int> grid, group;
static std::vector<mx::array> given;

namespace mlx::core {
bool metal::is_available() { return backend == 1; }
bool cu::is_available() { return backend == 2; }
namespace fast {
static CustomKernelFunction recorder() {
  made++;
  return [](const std::vector<array> &inputs, const std::vector<Shape> &shapes, const std::vector<Dtype> &dtypes,
            std::tuple<int, int, int> g, std::tuple<int, int, int> t, auto, auto, bool, StreamOrDevice) {
    grid = g, group = t, given = inputs;
    std::vector<array> out;
    for (size_t i = 0; i < shapes.size(); i++) out.emplace_back(shapes[i], dtypes[i]);
    return out;
  };
}
CustomKernelFunction metal_kernel(const std::string &, const std::vector<std::string> &, const std::vector<std::string> &,
                                  const std::string &, const std::string &, bool, bool) {
  return recorder();
}
CustomKernelFunction cuda_kernel(const std::string &, const std::vector<std::string> &, const std::vector<std::string> &,
                                 const std::string &, const std::string &, bool, int) {
  return recorder();
}
CustomKernelFunction hip_kernel(const std::string &, const std::vector<std::string> &, const std::vector<std::string> &,
                                const std::string &, const std::string &, bool, int) {
  return recorder();
}
} // namespace fast
} // namespace mlx::core

#ifdef KGEN_MLX_ROCM
namespace kgen_mlx {
int rocm_warp_size() { return width; }
bool rocm_available() { return backend == 3; }
} // namespace kgen_mlx
#endif

static void check(bool holds, const char *what) {
  if (holds) return;
  printf("failed: %s\n", what);
  failures++;
}

template <class F> static bool refuses(F launch, const char *part) {
  try {
    launch();
  } catch (const std::exception &e) {
    if (strstr(e.what(), part)) return true;
    printf("it says: %s\n", e.what());
  }
  return false;
}

// A table of its own, which is held to 32 lanes.
static constexpr kgen_mlx::KernelPorts held = {.rocm = kgen_mlx::fused_xielu_ports.rocm};

int main(int, char **argv) {
  backend = atoi(argv[1]), width = atoi(argv[2]);
  using namespace kgen_mlx;
#ifdef KGEN_MLX_ROCM
  const bool rocm = backend == 3;
#else
  const bool rocm = false;
#endif
  const bool there = backend == 1 || backend == 2 || rocm;
  check(fused_xielu_available() == there, "there is a port where there is a backend");
  check(has_kernel_port(held) == (rocm && width == 32), "a port for 32 lanes only is held back elsewhere");
  check(made == 0, "to ask makes nothing");
  const mx::array x(mx::Shape{1000}, mx::float16), small(mx::Shape{4}, mx::float32),
      logits(mx::Shape{2, 3}, mx::float32), key(mx::Shape{2}, mx::uint32);
  if (!there) {
    check(refuses([&] { fused_xielu(x, 0.8f, 0.9f, 0.5f, 0); }, "no custom kernel port"), "a refusal says why");
  } else {
    const std::vector<mx::array> y = fused_xielu(x, 0.8f, 0.9f, 0.5f, 0);
    check(y.size() == 1 && y[0].sizes == mx::Shape{1000} && y[0].type == mx::float16, "an output as the input");
    fused_xielu(small, 0.8f, 0.9f, 0.5f, 0);
    check(given[0].sizes == (mx::Shape{8, 4}), "a small input comes eight times");
    const auto none = fused_xielu(mx::array(mx::Shape{0}, mx::float32), 0.8f, 0.9f, 0.5f, 0);
    check(none.size() == 1 && none[0].size() == 0, "nothing to do is done");
    check(gumbel_max_sample(logits, key, 5, 1.0f)[0].sizes == (mx::Shape{2, 5}), "a dim that no shape tells is given");
    check(grid == std::make_tuple(512, 5, 1) && group == std::make_tuple(256, 1, 1), "the grid is groups times threads");
    check(made == 2, "each function is made once");
    check(refuses([&] { fused_xielu(mx::array(mx::Shape{4}, mx::int32), 0, 0, 0, 0); }, "dtype"), "another dtype is refused");
    check(refuses([&] { gumbel_max_sample(logits, mx::array(mx::Shape{3}, mx::uint32), 1, 1.0f); }, "axis 0 is 3, not 2"),
          "another shape is refused");
    check(refuses([&] { gumbel_max_sample(x, key, 1, 1.0f); }, "1 axes, not 2"), "another rank is refused");
  }
  if (backend == 3 && width == 64 && rocm)
    check(refuses([] { select_kernel_port("held", "the graph", held); }, "reports 64 lanes"), "a width's refusal says so");
  return failures != 0;
}
