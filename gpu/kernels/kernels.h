/* kernels.h - the declarations of all kernels, for the file that defines them and the emulator.
 */
#ifndef TAMIS_GPU_KERNELS_H
#define TAMIS_GPU_KERNELS_H

#include "shim.h"
#include "table.h"

#define GPU_DECLARE(name, argument, meets) GPU_KERNEL k_##name(argument job);
GPU_KERNELS(GPU_DECLARE)
#undef GPU_DECLARE

#endif
