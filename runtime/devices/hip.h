/* hip.h: the few numbers of HIP's binary interface that hip.c relies on.  Each is
** the same in the headers of ROCm 5.2, 5.7, 6.4 and 7.2; tests/devices/test_hip.c compares them with the
** header that is installed. */
#ifndef KG_DEVICE_HIP_H
#define KG_DEVICE_HIP_H

#include <stddef.h>

enum { HIP_ERROR_OUT_OF_MEMORY = 2, HIP_ERROR_NO_DEVICE = 100, HIP_ERROR_INVALID_DEVICE = 101 };

enum { HIP_MEMCPY_HOST_TO_DEVICE = 1, HIP_MEMCPY_DEVICE_TO_HOST = 2 };

enum { /* hipDeviceAttribute_t */
       HIP_ATTRIBUTE_MAX_GRID_X = 29,
       HIP_ATTRIBUTE_MAX_GRID_Y = 30,
       HIP_ATTRIBUTE_MAX_GRID_Z = 31,
       HIP_ATTRIBUTE_MAX_THREADS = 56,
       HIP_ATTRIBUTE_MAX_SHARED = 74,
       HIP_ATTRIBUTE_WARP_SIZE = 87
};

#define HIP_PARAM_BUFFER_POINTER ((void *)1)
#define HIP_PARAM_BUFFER_SIZE ((void *)2)
#define HIP_PARAM_END ((void *)3)

/* hipDeviceProp_t changed its layout at ROCm 6, with a new function under a new name; the old
** name still fills the old layout there.  The newest that a library has is the first found. */
typedef struct hip_properties_layout {
  const char *function;
  size_t bytes, warp_size, gcn_arch_name;
} hip_properties_layout;

static const hip_properties_layout hip_properties_layouts[] = {
    {"hipGetDevicePropertiesR0600", 1472, 308, 1160},
    {"hipGetDeviceProperties", 792, 276, 396},
};

#define HIP_PROPERTIES_LAYOUTS (sizeof hip_properties_layouts / sizeof *hip_properties_layouts)
#define HIP_PROPERTIES_ROOM 16384 /* more than any layout fills */

#endif
