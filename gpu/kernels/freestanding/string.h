/* string.h - for kernels: clang makes loads and stores of these, where the size is known. */
#ifndef TAMIS_GPU_STRING_H
#define TAMIS_GPU_STRING_H

#include <stddef.h>

#define memcpy __builtin_memcpy
#define memset __builtin_memset
#define memmove __builtin_memmove

#endif
