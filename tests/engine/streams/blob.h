// blob.h: the file format of instruction streams, written by the generator and read by the driver (plain C).
// A BlobHeader, then for each stream: StreamHeader, `boundaries` offsets of instructions, `code_size` bytes of code.
#pragma once
#include <stdint.h>

enum {
    kBlobMagic = 0x4d525453,
    kCodeAt = 0x51230000,  ///< address of the code
    kCodeRoom = 0x10000,
    kDataAt = 0x52450000,  ///< address of the streams' data; r14 points to its middle, rsp to three quarters of it
    kDataRoom = 0x10000,
    kFsOffset = 0x40  ///< the fs base: a small number, for operands with a prefix
};

/// In the offset of an instruction: it changes status flags. If it faults, the flags that its signal frame shows may be
/// those of the engine's own additions (docs/engine.md, "Traces"), so the driver clears them before it skips it.
static const uint32_t kChangesFlags = 0x80000000;

struct BlobHeader {
    uint32_t magic, streams;
};

struct StreamHeader {
    uint64_t seed;  ///< of the initial registers, vectors and memory
    uint32_t code_size, boundaries;
};
