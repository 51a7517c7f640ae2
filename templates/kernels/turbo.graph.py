def _values(packed, rescale, codebook):
    """[kv_rows, tokens, D]: two codes to a byte, the lower nibble first."""
    codes = mx.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], -1)
    return codebook[codes.astype(mx.uint32)] * rescale.astype(mx.float32)[..., None]


def turbo4_delegated_cold(weights, rescale, packed, codebook, threshold, rows, kv_rows):
    values = mx.repeat(_values(packed, rescale, codebook), rows // kv_rows, axis=0)
    return mx.where(weights > threshold, weights, 0) @ values


sparse_v = turbo4_delegated_cold


def turbo4_bulk_dequant_rotated(packed, rescale, codebook):
    return _values(packed, rescale[..., 0], codebook).astype(mx.float16)


def turbo4_delegated_steel(scores, cold_packed, cold_rescale, hot_v, codebook, threshold,
                           cold_offset, hot_offset, rows, kv_rows, Ttot):
    """A cold token below the threshold in every query of a row is left out."""
    top = scores.max(axis=-1, keepdims=True)
    top = mx.where(mx.isfinite(top), top, 0)
    powers = mx.exp(scores - top)
    total = powers.sum(axis=-1, keepdims=True)
    weights = powers / mx.where(mx.isfinite(total) & (total > 0), total, 1)
    seen = mx.any(~(weights <= threshold), axis=1, keepdims=True)

    def part(weights, values, offset):
        tokens = max(0, min(values.shape[1], Ttot - offset))
        values = mx.repeat(values[:, :tokens], rows // kv_rows, axis=0)
        return weights[..., offset:offset + tokens] @ values

    cold = _values(cold_packed, cold_rescale, codebook)
    return (part(mx.where(seen, weights, 0), cold, cold_offset),
            part(weights, hot_v.astype(mx.float32), hot_offset))
