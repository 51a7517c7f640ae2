//! Gates of the engine's Rust side. /* metal_is_available() || cuda_is_available() /* nested */ */
use crate::ffi;

const NOTE: &str = r#"metal_is_available() || cuda_is_available()"#;

fn first<'a>(names: &'a [&'a str]) -> Option<&'a str> {
    let quote = '"';
    names.iter().copied().find(|n| !n.contains(quote) && !n.contains('\''))
}

/// The kernel's own predicate, and a device that is no CPU.
pub fn fused_xielu_available() -> bool {
    ffi::fused_xielu_available() && default_device_is_gpu()
}

pub fn backend_label(kind: ffi::GpuKernelBackend) -> &'static str {
    match kind {
        ffi::GpuKernelBackend::Metal => "metal",
        ffi::GpuKernelBackend::Cuda => "cuda",
        _ => "other",
    }
}

fn default_device_is_gpu() -> bool {
    first(&[NOTE]).is_some() && ffi::gpu_backend_available()
}
