/* emulator.h - what a test can tell the emulator. */
#ifndef TAMIS_TESTS_EMULATOR_H
#define TAMIS_TESTS_EMULATOR_H

#include <tamis/gpu.h>

/* Bytes of memory that the GPU has. */
extern uint64_t emulator_memory;

/* Bytes of it that are in use, and the most that were. */
uint64_t        emulator_used(const tamis_gpu *gpu);
extern uint64_t emulator_peak;

/* Bytes of shared memory that a block has; that of an H200 unless a test says otherwise. */
extern uint64_t emulator_shared;

/* Let calls fail. The depth is how often a context was entered and not left. */
extern bool emulator_refuses_entry, emulator_refuses_pins;
extern int  emulator_depth;

/* How many allocations succeed before all others fail, on the GPU and of pinned memory. */
extern uint64_t emulator_allocations;

/* How often a stream was waited for, and which one was the last. */
extern uint64_t emulator_waits;
extern void    *emulator_waited;

#endif
