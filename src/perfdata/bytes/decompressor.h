// decompressor.h: the zstd stream that COMPRESSED records carry. One stream goes through all of them: a record of the
// stream may begin in one and end in the next.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "perfdata/cursor.h"

namespace anyperf::perfdata {

/// The state of the stream. Records must be fed in the order of the file. An error ends it: what follows refers to
/// bytes that could not be unpacked.
class Decompressor {
  public:
    Decompressor();
    ~Decompressor();
    Decompressor(Decompressor&&) noexcept;
    Decompressor& operator=(Decompressor&&) noexcept;

    /// Begins with the contents of the next COMPRESSED record, which must stay valid until unpack() returns false.
    void feed(Bytes packed);

    /// Unpacks the next piece of what was fed to the end of `out`, at most kPiece bytes. False: all of it is unpacked.
    /// Error: the bytes are not zstd's. To be called until it returns false.
    Result<bool> unpack(std::vector<std::byte>& out);

    /// A damaged record may claim to unpack to any size. Unpacking in pieces, with whole records taken out in between,
    /// bounds the memory all the same.
    static constexpr std::size_t kPiece = 1 << 20;

  private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
    Bytes packed_;       // what of the fed bytes zstd has not read
    bool more_ = false;  // another piece may come
};

}  // namespace anyperf::perfdata
