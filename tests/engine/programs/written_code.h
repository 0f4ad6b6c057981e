// written_code.h: for programs that write code.
#pragma once
#include "tiny.h"

/// mov $value,%eax; ret
static inline void write_code(volatile void* place, unsigned value) {
    volatile unsigned char* const at = place;
    at[0] = 0xb8;
    at[1] = (unsigned char)value;
    at[2] = (unsigned char)(value >> 8);
    at[3] = (unsigned char)(value >> 16);
    at[4] = (unsigned char)(value >> 24);
    at[5] = 0xc3;
}
