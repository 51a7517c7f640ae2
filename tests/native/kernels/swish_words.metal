// What the body calls.
template <typename V> static inline V sigmoid_of(V v) { return 1.0f / (1.0f + metal::precise::exp(-v)); }
