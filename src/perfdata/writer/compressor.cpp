#include "perfdata/writer/compressor.h"

#include <zstd.h>

#include <algorithm>
#include <array>

#include "perfdata/types.h"

namespace anyperf::perfdata {

struct Compressor::Stream {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    std::array<std::byte, kLongestRecord - kRecordHeader> packed;
};

Compressor::Compressor(int level) : stream_(std::make_unique<Stream>()) {
    ZSTD_CCtx_setParameter(stream_->context, ZSTD_c_compressionLevel, level);
}

Compressor::~Compressor() {
    ZSTD_freeCCtx(stream_->context);
}

// A piece is what one flush of zstd covers. It is limited because readers allocate that much for a record (kPiece);
// packed, a piece may still need several records, whose size has 16 bits.
void Compressor::compress(Bytes plain, std::vector<std::byte>& out) {
    for (; !plain.empty(); plain = plain.subspan(std::min(kPiece, plain.size())))
        compress_piece(plain.first(std::min(kPiece, plain.size())), out);
}

void Compressor::compress_piece(Bytes plain, std::vector<std::byte>& out) {
    ZSTD_inBuffer from{plain.data(), plain.size(), 0};
    for (std::size_t left = 1; left != 0;) {
        ZSTD_outBuffer to{stream_->packed.data(), stream_->packed.size(), 0};
        // Flushed at the end of each piece, so that a reader gets all of it; 0 is left once that is done.
        left = ZSTD_compressStream2(stream_->context, &to, &from, ZSTD_e_flush);
        if (ZSTD_isError(left) != 0) return;  // not documented to happen with a valid level and enough memory
        if (to.pos == 0) continue;
        const RecordHeader header{RecordType::compressed, 0, static_cast<std::uint16_t>(kRecordHeader + to.pos)};
        const auto* begin = reinterpret_cast<const std::byte*>(&header);
        out.insert(out.end(), begin, begin + sizeof header);
        out.insert(out.end(), stream_->packed.data(), stream_->packed.data() + to.pos);
    }
}

}  // namespace anyperf::perfdata
