/* spec_backends.h: three backends made by hand, so that the tests of specifications hold whatever
** templates/ says.  hip is given a smaller group than metal, to tell its limit from the others';
** cuda names none, which leaves the common one. */
#ifndef SPEC_BACKENDS_H
#define SPEC_BACKENDS_H

#include "passes.h"

static const char *metal_reserved[] = {"half", "kernel", "thread", "threadgroup"};
static const char *cuda_reserved[] = {"half", "threadIdx"};
static const char *hip_reserved[] = {"half", "hipLaunchKernel"};

/* Metal and CUDA have native ports, and HIP has none. */
static Pair spec_native[] = {{"native_kernel", "kernel"}};

static const Backend spec_metal = {
    .name = "metal",
    .title = "Metal",
    .slot = "metal",
    .extension = "metal",
    .waves = 1,
    .order = 1,
    .limits = {.shared = 32768,
               .threads = 1024,
               .buffers = 31,
               .groups = {4294967295, 4294967295, 4294967295}},
    .text = spec_native,
    .text_count = 1,
    .reserved = metal_reserved,
    .reserved_count = 4,
};
static const Backend spec_cuda = {
    .name = "cuda",
    .title = "CUDA",
    .slot = "cuda",
    .extension = "cu",
    .waves = 1,
    .order = 2,
    .limits = {.shared = 49152, .groups = {2147483647, 65535, 65535}, .axes = {1024, 1024, 64}},
    .text = spec_native,
    .text_count = 1,
    .reserved = cuda_reserved,
    .reserved_count = 2,
};
static const Backend spec_hip = {
    .name = "hip",
    .title = "HIP",
    .slot = "rocm",
    .extension = "hip",
    .waves = 3,
    .order = 3,
    .limits = {.shared = 65536, .threads = 512, .groups = {2147483647, 65535, 65535}},
    .reserved = hip_reserved,
    .reserved_count = 2,
};
static const Backend *const spec_backends[] = {&spec_metal, &spec_cuda, &spec_hip};
enum { SPEC_BACKENDS = 3 };

#endif
