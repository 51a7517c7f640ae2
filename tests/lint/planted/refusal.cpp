#include "kernel_port.h"
bool metal_available();
bool cuda_available();
bool fused_norm_available() { return has_kernel_port(norm_ports); }
[[noreturn]] void refuse(const char *why) { throw std::runtime_error(why); }
#define REQUIRE(x) do { if (!(x)) throw std::runtime_error(#x); } while (0)
static const KernelPorts norm_ports = {.metal = nullptr};

void by_table() { if (!has_kernel_port(norm_ports)) throw std::runtime_error("[norm] no port"); } // L2
void by_none() { if (gpu_kernel_backend() == GpuKernelBackend::None) { throw 1; } } // L2
void otherwise() {
  if (has_kernel_port(norm_ports)) { // L2
    launch();
  } else {
    throw std::runtime_error("no");
  }
}
void early() {
  if (has_kernel_port(norm_ports)) { launch(); return; } // L2
  throw std::runtime_error("no");
}
void by_name(bool bad) {
  const bool ok = has_kernel_port(norm_ports);
  if (bad || !ok) refuse("[norm] no port"); // L2
}
void aborting() { if (has_kernel_port(norm_ports) == false) std::abort(); } // L2
void by_macro() { REQUIRE(has_kernel_port(norm_ports)); } // L2
int chosen() { return has_kernel_port(norm_ports) ? 1 : throw std::runtime_error("no"); } // L2
array norm(const array &x) {
  if (!fused_norm_available()) throw std::runtime_error("[norm] refused"); // L2
  return select_kernel_port("norm", "graph", norm_ports)({x}, {x.shape()}, {x.dtype()}, {1, 1, 1}, {1, 1, 1}, {{"T", x.dtype()}}, {}, false, {})[0];
}
array caller(const array &x) { if (!fused_norm_available()) return graph(x); return norm(x); }
void shapes(const array &x) { if (x.ndim() != 2) throw std::invalid_argument("norm: rank"); }
void inside(const array &x) {
  if (has_kernel_port(norm_ports)) {
    if (x.ndim() != 2) throw std::invalid_argument("norm: rank");
    launch();
  }
}
