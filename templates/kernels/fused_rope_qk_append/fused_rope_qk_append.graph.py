def fused_rope_qk_append(qkv, B, L, Hq, Hkv, D, rope_dims, log2_base, scale, position, TRADITIONAL,
                         LAYOUT):
    heads = qkv.reshape(B, L, Hq + 2 * Hkv, D).transpose(0, 2, 1, 3)

    def turned(a):
        return mx.fast.rope(a, rope_dims, traditional=TRADITIONAL, base=2.0 ** log2_base,
                            scale=scale, offset=position)

    def placed(a):
        return a.transpose(0, 2, 1, 3) if LAYOUT == 1 else a

    q, k, v = heads[:, :Hq], heads[:, Hq:Hq + Hkv], heads[:, Hq + Hkv:]
    return turned(q), placed(turned(k)), placed(v)
