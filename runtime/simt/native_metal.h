/* native_metal.h */
