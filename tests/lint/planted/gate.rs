// Each line that is marked has a finding of that rule.
use mlx::cuda::is_available as cuda_ok;
use mlx::{metal::is_available as metal_ok, Array};

fn plain() -> i32 { if ffi::metal_is_available() || ffi::cuda_is_available() { 1 } else { 0 } } // L4
fn reversed() -> i32 { if mlx::cuda::is_available() || mlx::metal::is_available() { 1 } else { 0 } } // L4
fn morgan() -> i32 { if !metal_ok() && !cuda_ok() { 0 } else { 1 } } // L4
fn negated<'a>(c: char) -> i32 { if c == 'a' || !(metal_ok() /* /* */ || */ || cuda_ok()) { 0 } else { 1 } } // L4
fn bound() -> i32 {
    let metal = metal_ok();
    let cuda: bool = unsafe { ffi::cuda_is_available() };
    if cuda || metal { 1 } else { 0 } // L4
}
pub fn tail() -> bool { if metal_ok() { true } else { cuda_ok() } } // L4
fn nested() -> i32 {
    if !metal_ok() {
        if !cuda_ok() { return 0; } // L4
    }
    1
}
pub fn xielu_kernel_available() -> bool { ffi::metal_is_available() } // L6
fn kind() -> i32 { if ffi::gpu_backend() == GpuKernelBackend::Metal { 1 } else { 0 } } // L1
fn kind_back() -> bool { BackendKind::Metal != ffi::gpu_backend() } // L1
fn kind_macro() -> bool { matches!(ffi::gpu_backend(), GpuKernelBackend::Metal | GpuKernelBackend::Cuda) } // L1
fn kind_match() -> i32 {
    match ffi::gpu_backend() {
        GpuKernelBackend::Metal => launch(1), // L1
        _ => 0,
    }
}
fn kind_let() -> i32 { if let GpuKernelBackend::Rocm = ffi::gpu_backend() { 1 } else { 0 } } // L1

fn fine() -> bool { metal_ok() || ffi::rocm_is_available() || cuda_ok() }
fn names() -> &'static str {
    match ffi::gpu_backend() { GpuKernelBackend::Metal => "metal", _ => "other" }
}
fn texts() -> (&'static str, char) { ("metal_ok() || cuda_ok()", '"') }
fn raw() -> &'static str { r##"x"# metal_ok() || cuda_ok()"## }
