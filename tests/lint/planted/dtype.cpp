#include "kernel_port.h"
using namespace mlx::core;
using Args = std::vector<std::pair<std::string, fast::TemplateArg>>;
static const KernelPorts ports = {.metal = nullptr};
#define TYPE(x) {#x, x.dtype()}

array missing(const array &x, const array &w) {
  auto &k = select_kernel_port("a", "graph", ports);
  return k({x, w}, {x.shape()}, {x.dtype()}, {1, 1, 1}, {1, 1, 1}, {{"T", x.dtype()}}, std::nullopt, false, {})[0]; // L7
}
array inline_none(const array &x) {
  auto k = fast::cuda_kernel("a", {"x"}, {"y"}, source);
  return k({x}, {x.shape()}, {float32}, {1, 1, 1}, {1, 1, 1}, {}, std::nullopt, false, {})[0]; // L7
}
array only_numbers(const array &x) {
  auto k = fast::metal_kernel("a", {"x"}, {"y"}, source);
  Args args = {{"N", 4}, {"Wide", true}};
  return k({x}, {x.shape()}, {float32}, {1, 1, 1}, {1, 1, 1}, args, std::nullopt, false, {})[0]; // L7
}
array pushed(const array &q, const array &k, const array &v) {
  std::vector<array> inputs{q, k};
  inputs.push_back(v);
  Args args;
  args.emplace_back("Q", q.dtype());
  args.push_back({"K", k.dtype()});
  return select_kernel_port("a", "graph", ports)(inputs, {q.shape()}, {q.dtype()}, {1, 1, 1}, {1, 1, 1}, args, {}, false, {})[0]; // L7
}
array output_varies(const array &x, Dtype out) {
  auto &k = select_kernel_port("a", "graph", ports);
  return k({x}, {x.shape()}, {out}, {1, 1, 1}, {1, 1, 1}, {{"T", x.dtype()}}, std::nullopt, false, {})[0]; // L7
}
array promoted(const array &x, const array &y) {
  auto &k = select_kernel_port("a", "graph", ports);
  return k({x, y}, {x.shape()}, {float32}, {1, 1, 1}, {1, 1, 1}, {{"T", promote_types(x.dtype(), y.dtype())}}, std::nullopt, false, {})[0]; // L7
}
array held_to_two(const array &x) {
  if (x.dtype() != float32 && x.dtype() != float16) throw std::invalid_argument("x");
  auto &k = select_kernel_port("a", "graph", ports);
  return k({x}, {x.shape()}, {float32}, {1, 1, 1}, {1, 1, 1}, {{"N", 3}}, std::nullopt, false, {})[0]; // L7
}
array commented(const array &x) {
  auto &k = select_kernel_port("a", "graph", ports);
  return k({x}, {x.shape()}, {float32}, {1, 1, 1}, {1, 1, 1}, {{"N", 3} /* {"T", x.dtype()} */}, std::nullopt, false, {})[0]; // L7
}
static array run(const std::vector<array> &inputs, const Args &args) {
  auto &k = select_kernel_port("a", "graph", ports);
  return k(inputs, {{1}}, {float32}, {1, 1, 1}, {1, 1, 1}, args, std::nullopt, false, {})[0];
}
array wrapped(const array &x, const array &w) { return run({x, w}, {{"T", w.dtype()}}); } // L7

array wrapped_right(const array &x, const array &w) { return run({x, w}, {{"T", w.dtype()}, {"U", x.dtype()}}); }
array whole(const array &x, const array &w, float eps) {
  auto &k = select_kernel_port("a", "graph", ports);
  const Dtype t = x.dtype();
  array row = contiguous(w), scale = array(eps, t), half = astype(x, float16);
  return k({x, row, scale, half, array({eps}, {1})}, {x.shape()}, {t}, {1, 1, 1}, {1, 1, 1}, {{"T", t}, TYPE(w)}, std::nullopt, false, {})[0];
}
array held(const array &x, const array &y, const array &table) {
  if (table.dtype() != int32 || x.dtype() != y.dtype()) throw std::invalid_argument("dtypes");
  auto &k = select_kernel_port("a", "graph", ports);
  return k({x, y, table}, {x.shape()}, {x.dtype()}, {1, 1, 1}, {1, 1, 1}, {{"T", y.dtype()}}, std::nullopt, false, {})[0];
}
array each(const std::vector<array> &given) {
  std::vector<array> inputs = {given[0], given[1]};
  Args args;
  for (const auto &in : inputs) args.push_back({"T", in.dtype()});
  auto &k = select_kernel_port("a", "graph", ports);
  return k(inputs, {{1}}, {float32}, {1, 1, 1}, {1, 1, 1}, args, std::nullopt, false, {})[0];
}
array cast(array x) {
  x = astype(x, float32);
  auto &k = select_kernel_port("a", "graph", ports);
  return k({x}, {x.shape()}, {float32}, {1, 1, 1}, {1, 1, 1}, {{"N", 3}}, std::nullopt, false, {})[0];
}
array forwarded(const fast::CustomKernelFunction &k, const std::vector<array> &inputs, const Args &args) {
  return k(inputs, {{1}}, {float32}, {1, 1, 1}, {1, 1, 1}, args, std::nullopt, false, {})[0];
}
