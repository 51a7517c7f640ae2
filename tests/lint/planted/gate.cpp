// Each line that is marked has a finding of that rule, and no other line has one.
#include "mlx/mlx.h"
#define HAVE_METAL mlx::core::metal::is_available()
#define EITHER(a, b) ((a) || (b))
namespace mx = mlx::core;
namespace mtl = mlx::core::metal;
using CudaOk = bool (*)();
bool metal_available();
bool cuda_available();
bool rocm_available();
bool custom_kernels_available();
struct Caps { bool metal_available, cuda_available; };

int plain() { return metal_available() || cuda_available() ? 1 : 0; } // L4
int reversed() { if (cuda_available() || metal_available()) return 1; return 0; } // L4
int morgan() { if (!metal_available() && !cuda_available()) return 0; return 1; } // L4
int morgan_back() { if (not cuda_available() and not metal_available()) return 0; return 1; } // L4
int negated() { if (!(metal_available() || cuda_available())) return 0; return 1; } // L4
int commented() { return metal_available() /* || rocm_available() */ || // rocm_available()
         cuda_available(); } // L4^
int equal() { if (metal_available() == false && cuda_available() != true) return 0; return 1; } // L4
int with_more(bool big) { if (big && (mx::metal::is_available() || mx::cu::is_available())) return 1; return 0; } // L4
int by_macro() { if (HAVE_METAL || mx::cu::is_available()) return 1; return 0; } // L4
int by_macro_call() { if (EITHER(cuda_available(), metal_available())) return 1; return 0; } // L4
int by_alias() { if (mtl::is_available() || mx::cu::is_available()) return 1; return 0; } // L4
int by_variable() {
  const bool m = metal_available();
  bool c{cuda_available()};
  if (c || m) return 1; // L4
  return 0;
}
int by_choice() { const bool any = metal_available() ? true : cuda_available(); return any; } // L4
int by_bits() { return metal_available() | cuda_available(); } // L4
int spliced() { return metal_avail\
able() || cuda_available(); } // L4^
int by_family() { if (!custom_kernels_available()) return 0; return 1; } // L4
int by_members(const Caps &caps) { if (caps.cuda_available || caps.metal_available) return 1; return 0; } // L4
bool in_steps() { // L4
  if (metal_available()) return true;
  return cuda_available();
}
int nested() {
  if (!metal_available()) {
    if (!cuda_available()) return 0; // L4
  }
  return 1;
}

int all_three() { return metal_available() || rocm_available() || cuda_available(); }
int both() { return metal_available() && cuda_available(); }
int one() { return metal_available(); }
int apart() { return metal_available() ? 3 : cuda_available() ? 2 : 1; }
const char *text() { return R"x(metal_available() || cuda_available())x"; }
#if 0
int dead() { return metal_available() || cuda_available(); }
#endif
int assigned(bool a, bool b) { return a || b; }
