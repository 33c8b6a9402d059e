/* baselines.h - what the papers compare themselves with, apart from plain Bloom filters. */
#ifndef TAMIS_LAB_BASELINES_H
#define TAMIS_LAB_BASELINES_H

#include "frame/lab.h"

void bloom_compressed(lab_run *run);       /* bloom_compressed.c */
void baselines_fingerprints(lab_run *run); /* baselines.c */
void baselines_cuckoo(lab_run *run);       /* cuckoo.c */

#endif
