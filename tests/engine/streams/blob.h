// blob.h: what a file of instruction streams looks like; the generator writes it, the driver (plain C) reads it.
// Header, then for each stream: StreamHeader, `boundaries` offsets of its instructions, `code_size` bytes of code.
#pragma once
#include <stdint.h>

enum {
    kBlobMagic = 0x4d525453,
    kCodeAt = 0x51230000,  ///< where the code is put
    kCodeRoom = 0x10000,
    kDataAt = 0x52450000,  ///< memory that the streams use: r14 points to its middle, rsp to three quarters
    kDataRoom = 0x10000,
    kFsOffset = 0x40  ///< the fs base: a small number, for operands with a prefix
};

struct BlobHeader {
    uint32_t magic, streams;
};

struct StreamHeader {
    uint64_t seed;  ///< of the registers, vectors and memory it starts with
    uint32_t code_size, boundaries;
};
