include "kernels.lua"
include "more.lua"
