/* test_platform_portable.c: the tests of runtime/platform.h, of what other systems than Linux get. */
#define KG_PLATFORM_PORTABLE
#include "platform.c"
#include "test_platform.c"
