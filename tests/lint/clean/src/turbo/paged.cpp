// Two kernels behind one predicate, launched with named vectors.
#include "kernel_port.h"

#include <string>
#include <variant>
#include <vector>

namespace engine {
namespace {

using mlx::core::array;
using mlx::core::Dtype;
using mlx::core::fast::TemplateArg;
using TemplateArgs = std::vector<std::pair<std::string, TemplateArg>>;

const char *const kPartialSource = R"(
  float sum = 0;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor(sum, offset);
  out[threadIdx.x / 32] = sum;
)";
const char *const kMergeHip = R"(
  const int d = threadIdx.x;
  out[d] = T(lse[0] * float(v[d]));
)";

/* One helper for all of them. */
CustomKernelFunction make_hip(const std::string &name, const std::vector<std::string> &inputs,
                              const std::vector<std::string> &outputs, const std::string &source) {
  return mlx::core::fast::hip_kernel(name, inputs, outputs, source);
}

struct Holder {
  Holder(const char *name, std::vector<std::string> inputs, std::vector<std::string> outputs,
         const char *source)
      : name_(name), inputs_(std::move(inputs)), outputs_(std::move(outputs)), source_(source) {}
  const CustomKernelFunction &get() {
    if (!made_) kernel_ = make_hip(name_, inputs_, outputs_, source_), made_ = true;
    return kernel_;
  }
  const char *name_;
  std::vector<std::string> inputs_, outputs_;
  const char *source_;
  CustomKernelFunction kernel_;
  bool made_ = false;
};

Holder partial_hip{"paged_v2_partial", {"q", "pool", "table"}, {"out"}, kPartialSource};
Holder merge_hip{"paged_merge", {"v", "lse"}, {"out"}, kMergeHip};

const CustomKernelFunction &merge_rocm_kernel() { return merge_hip.get(); }

constexpr KernelPorts paged_partial_ports = {
    .rocm = +[]() -> const CustomKernelFunction & { return partial_hip.get(); },
};
constexpr KernelPorts paged_merge_ports = {
    .rocm = &merge_rocm_kernel,
    .rocm_any_wave_size = true,
};

array partial(const array &q, const array &pool, const array &table, int chunk) {
  if (table.dtype() != mlx::core::int32)
    throw std::invalid_argument("[paged_v2] the block table must be int32");
  auto &kernel = select_kernel_port("paged_v2", "gather fallback", paged_partial_ports);
  const Dtype kv = pool.dtype();
  std::vector<array> inputs = {q, mlx::core::contiguous(pool)};
  inputs.push_back(table);
  TemplateArgs args = {{"QType", q.dtype()}, {"Chunk", chunk}};
  args.emplace_back("KVType", kv);
  return kernel(inputs, {q.shape()}, {mlx::core::float32}, std::make_tuple(32, 1, 1),
                std::make_tuple(32, 1, 1), args, std::nullopt, false, mlx::core::Device::gpu)[0];
}

} // namespace

bool paged_v2_available() {
  return has_kernel_port(paged_partial_ports) && has_kernel_port(paged_merge_ports);
}

bool paged_merge_available() { return has_kernel_port(paged_merge_ports); }

array paged_merge(const array &v, const array &lse, Dtype out_type) {
  TemplateArgs args;
  args.push_back({"V", v.dtype()});
  args.push_back({"L", lse.dtype()});
  args.push_back({"T", out_type});
  return select_kernel_port("paged_merge", "graph fallback", paged_merge_ports)(
      {v, lse}, {v.shape()}, {out_type}, {64, 1, 1}, {64, 1, 1}, args, std::nullopt, false, {})[0];
}

array paged_v2(const array &q, const array &pool, const array &table) {
  if (!paged_v2_available()) return pool; // the caller's graph
  const array part = partial(q, pool, table, 64);
  return paged_merge(part, mlx::core::array(1.0f), q.dtype());
}

} // namespace engine
