/* native_vectors.h: Metal's vectors: constructors of pieces, swizzles, operators. */
