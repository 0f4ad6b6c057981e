// compressor.h: the zstd stream of COMPRESSED records: the counterpart of Decompressor.
//
// One stream for the whole file compresses better than a frame for each record, since later records can refer to
// earlier ones. Its price: a reader must unpack all records in order, and damage in one makes those after it
// unreadable.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "perfdata/cursor.h"

namespace anyperf::perfdata {

class Compressor {
  public:
    /// What one COMPRESSED record unpacks to at most: COMPRESSED's mmap_len, for which readers allocate memory.
    static constexpr std::size_t kPiece = 512 << 10;

    /// `level`: 1 (fast) to 22.
    explicit Compressor(int level);
    ~Compressor();
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;

    /// Appends COMPRESSED records to `out` from which all of `plain` can be unpacked. They continue one stream, so they
    /// must be in the file in the order of the calls.
    void compress(Bytes plain, std::vector<std::byte>& out);

  private:
    void compress_piece(Bytes plain, std::vector<std::byte>& out);

    struct Stream;
    std::unique_ptr<Stream> stream_;
};

}  // namespace anyperf::perfdata
