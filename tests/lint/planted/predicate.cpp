#include "kernel_port.h"
static const KernelPorts xielu_ports = {.metal = nullptr};
static const KernelPorts gateup_ports = {.metal = nullptr};
static const KernelPorts down_ports = {.metal = nullptr};
static const KernelPorts conv_ports = {.metal = nullptr};
bool metal_available();
bool gpu_available();

bool ssm_kernel_available() { // L6
#ifdef __APPLE__
  return metal_available();
#else
  return mlx::core::cu::is_available();
#endif
}
bool xielu_available() { return metal_available(); } // L6
bool xielu_kernel_available() { return gpu_available(); } // L6
bool conv_available() { return true; } // L6
bool gateup_available() { return has_kernel_port(gateup_ports) || metal_available(); } // L6
bool down_available() { return has_kernel_port(down_ports) && metal_available(); } // L6
bool fused_moe_available() { return has_kernel_port(gateup_ports); } // L6
void fused_moe(const array &x) {
  use(select_kernel_port("fused_moe", "graph", gateup_ports));
  use(select_kernel_port("fused_moe", "graph", down_ports));
}
bool moe_down_available() { return has_kernel_port(gateup_ports); } // L6
void moe_down(const array &x) { use(select_kernel_port("moe_down", "graph", down_ports)); }

bool either_available() { return has_kernel_port(gateup_ports) || has_kernel_port(down_ports); } // L6
bool never_available() { return !has_kernel_port(down_ports); } // L6

bool moe_available() { return has_kernel_port(gateup_ports) && has_kernel_port(down_ports); }
bool moe_gateup_available() { if (!has_kernel_port(gateup_ports)) return false; return true; }
bool xielu_cached_available() { static const bool ok = has_kernel_port(xielu_ports); return ok; }
bool moe_again_available() { return moe_available() && gpu_available(); }
static bool xielu_private_available() { return metal_available(); }
