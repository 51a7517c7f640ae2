-- The library's table of contents: a folder a kernel, with its specification, body, reference and
-- host companion, in the order in which the generated files have them; and sets of kernels that a
-- caller needs together.  What specifications of one family share stands beside the folders.  A file
-- of your own may hold specifications itself; README tells how.

backends { "metal", "cuda", "hip" } -- every kernel says of each of them what it has there

include "templates/kernels/fused_add_rms_norm/fused_add_rms_norm.lua"
include "templates/kernels/fused_rope_qk_append/fused_rope_qk_append.lua"
include "templates/kernels/gumbel_max_sample/gumbel_max_sample.lua"
include "templates/kernels/fused_xielu/fused_xielu.lua"

include "templates/kernels/paged_attention/paged_attention.lua"
include "templates/kernels/paged_v2_partial/paged_v2_partial.lua"
include "templates/kernels/paged_merge/paged_merge.lua"
path { name = "paged_v2", kernels = { "paged_v2_partial", "paged_merge" } }

include "templates/kernels/ssm_update/ssm_update.lua"
include "templates/kernels/mamba1_scan/mamba1_scan.lua"
include "templates/kernels/fused_add3_layer_norm/fused_add3_layer_norm.lua"
include "templates/kernels/gated_delta/gated_delta.lua"
include "templates/kernels/gated_delta_seqpar/gated_delta_seqpar.lua"

include "templates/kernels/rejection_sample/rejection_sample.lua"
include "templates/kernels/turbo4_weighted_sum/turbo4_weighted_sum.lua"
include "templates/kernels/turbo4_bulk_dequant_rotated/turbo4_bulk_dequant_rotated.lua"
include "templates/kernels/turbo4_delegated_steel/turbo4_delegated_steel.lua"

include "templates/kernels/moe_gateup/moe_gateup.lua"
include "templates/kernels/moe_down/moe_down.lua"
include "templates/kernels/moe_fc1_relu2/moe_fc1_relu2.lua"
include "templates/kernels/bitlinear_matmul/bitlinear_matmul.lua"
-- Experts are called in two launches: a caller asks for both at once.
path { name = "fused_moe", kernels = { "moe_gateup", "moe_down" } }
path { name = "fused_moe_relu2", kernels = { "moe_fc1_relu2", "moe_down" } }

include "templates/kernels/qmv/qmv.lua"
include "templates/kernels/qmv_mxfp4/qmv_mxfp4.lua"
include "templates/kernels/gather_qmm/gather_qmm.lua"
include "templates/kernels/gather_qmm_mxfp4/gather_qmm_mxfp4.lua"
include "templates/kernels/gather_qmm_expert_batched/gather_qmm_expert_batched.lua"
include "templates/kernels/gather_qmm_expert_batched_mxfp4/gather_qmm_expert_batched_mxfp4.lua"
