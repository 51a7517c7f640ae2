#include "kernel_port.h"
struct NormHolder {
  const CustomKernelFunction &get() {
    if (!fn_) fn_ = mlx::core::fast::metal_kernel("norm", {"x"}, {"y"}, kNorm);
    return *fn_;
  }
  std::optional<CustomKernelFunction> fn_;
};
struct LatinHolder : NormHolder {};
static NormHolder norm_metal;
static LatinHolder *latin = new LatinHolder;
NormHolder &norm_holder() { static NormHolder h; return h; }
const CustomKernelFunction &norm_kernel() { return norm_metal.get(); }
const CustomKernelFunction &stray_kernel() { return norm_metal.get(); } // L3
static const auto norm_lambda = +[]() -> const CustomKernelFunction & { return norm_holder().get(); };
static const KernelPorts norm_ports = {
    .metal = +[]() -> const CustomKernelFunction & { return norm_metal.get(); },
    .cuda = &norm_kernel,
    .rocm = norm_lambda,
};
#define TAKE(h) h.get()

void direct(const array &x) { auto &k = norm_metal.get(); use(k); } // L3
void by_function(const array &x) { use(norm_holder().get()); } // L3
void by_pointer(const array &x) { use(latin->get()); } // L3
void by_star(const array &x) { use((*latin).get()); } // L3
void by_reference(const array &x) { auto &h = norm_metal; use(h.get()); } // L3
void by_macro(const array &x) { use(TAKE(norm_metal)); } // L3
void by_getter(const array &x) { use(norm_kernel()); } // L3
void by_slot(const array &x) { use(norm_ports.metal()); } // L3
void by_slot_pointer(const array &x) { use((*norm_ports.cuda)()); } // L3
void commented(const array &x) { use(norm_metal /* the holder */ . get()); } // L3

void other(std::unique_ptr<int> p, Cache &cache) { use(p.get()); use(cache.get("norm")); }
void chosen(const array &x) { use(select_kernel_port("norm", "graph", norm_ports)); }
bool norm_available() { return has_kernel_port(norm_ports); }
