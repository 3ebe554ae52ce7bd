/* Which vector instructions to use, and how many cores. */
#ifndef PSFM_BASE_CPU_H
#define PSFM_BASE_CPU_H

/* Levels contain the ones before them. */
typedef enum {
    PSFM_CPU_PLAIN,  /* what the compiler was told to assume */
    PSFM_CPU_AVX2,   /* AVX2 */
    PSFM_CPU_AVX512, /* AVX-512 F, BW, VL and VNNI */
} psfm_cpu_level;

/* The best level of this machine, or the limit if that is lower. Cheap. */
psfm_cpu_level psfm_cpu(void);

/* Test hook: never go beyond this level. Process-wide; not while other threads compute. */
void psfm_cpu_limit(psfm_cpu_level level);

/* Cores that this process may run on: fewer than the machine has where it was bound to some. */
int psfm_cpu_cores(void);

#endif
