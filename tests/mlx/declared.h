// declared.h: what the header of `kgen emit mlx` uses of MLX, declared for a compiler that has no MLX, with hip_kernel, which
// MLX itself does not have.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace mlx::core {

struct Dtype {
  int number;
  bool operator==(const Dtype &other) const { return number == other.number; }
};
inline constexpr Dtype float32{0}, float16{1}, bfloat16{2}, int8{3}, uint8{4}, int16{5}, uint16{6},
    int32{7}, uint32{8}, int64{9}, uint64{10};
using Shape = std::vector<int32_t>;
struct StreamOrDevice {};

struct array {
  Shape sizes;
  Dtype type{float32};
  array(Shape sizes, Dtype type) : sizes(std::move(sizes)), type(type) {}
  array(float, Dtype type) : type(type) {}
  array(int32_t, Dtype type) : type(type) {}
  array(uint32_t, Dtype type) : type(type) {}
  Dtype dtype() const { return type; }
  size_t ndim() const { return sizes.size(); }
  int32_t shape(int at) const { return sizes[size_t(at)]; }
  size_t size() const {
    size_t n = 1;
    for (int32_t s : sizes) n *= size_t(s);
    return n;
  }
};
inline array zeros(const Shape &shape, Dtype type, StreamOrDevice = {}) {
  return array(shape, type);
}
inline array broadcast_to(const array &x, const Shape &shape, StreamOrDevice = {}) {
  return array(shape, x.type);
}

namespace metal {
bool is_available();
}
namespace cu {
bool is_available();
}

namespace fast {
using TemplateArg = std::variant<int, bool, Dtype>;
using CustomKernelFunction = std::function<std::vector<array>(
    const std::vector<array> &, const std::vector<Shape> &, const std::vector<Dtype> &,
    std::tuple<int, int, int>, std::tuple<int, int, int>,
    std::vector<std::pair<std::string, TemplateArg>>, std::optional<float>, bool, StreamOrDevice)>;
CustomKernelFunction metal_kernel(const std::string &name, const std::vector<std::string> &inputs,
                                  const std::vector<std::string> &outputs,
                                  const std::string &source, const std::string &header = "",
                                  bool contiguous = true, bool atomic = false);
CustomKernelFunction cuda_kernel(const std::string &name, const std::vector<std::string> &inputs,
                                 const std::vector<std::string> &outputs, const std::string &source,
                                 const std::string &header = "", bool contiguous = true,
                                 int shared = 0);
CustomKernelFunction hip_kernel(const std::string &name, const std::vector<std::string> &inputs,
                                const std::vector<std::string> &outputs, const std::string &source,
                                const std::string &header = "", bool contiguous = true,
                                int shared = 0);
} // namespace fast
} // namespace mlx::core
