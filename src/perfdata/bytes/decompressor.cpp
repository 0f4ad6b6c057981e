#include "perfdata/bytes/decompressor.h"

#include <zstd.h>

namespace anyperf::perfdata {

struct Decompressor::Stream {
    ZSTD_DCtx* context = ZSTD_createDCtx();
    ~Stream() { ZSTD_freeDCtx(context); }
};

Decompressor::Decompressor() : stream_(std::make_unique<Stream>()) {
    // log2 of bytes. zstd's levels up to 19 need windows of at most 8 MiB, level 22 one of 128 MiB. A damaged file must
    // not make zstd allocate gigabytes.
    constexpr int kLargestWindow = 27;
    ZSTD_DCtx_setParameter(stream_->context, ZSTD_d_windowLogMax, kLargestWindow);
}

Decompressor::Decompressor(Decompressor&&) noexcept = default;
Decompressor& Decompressor::operator=(Decompressor&&) noexcept = default;
Decompressor::~Decompressor() = default;

void Decompressor::feed(Bytes packed) {
    packed_ = packed;
    more_ = !packed.empty();
}

// Unpacks at most kPiece bytes at a time and appends them to `out`, so that a small record which unpacks to gigabytes
// cannot take the memory at once: the caller walks over what it has before it asks for more.
Result<bool> Decompressor::unpack(std::vector<std::byte>& out) {
    if (!more_) return false;
    const std::size_t before = out.size();
    out.resize(before + kPiece);
    ZSTD_inBuffer from{packed_.data(), packed_.size(), 0};
    ZSTD_outBuffer to{out.data() + before, kPiece, 0};
    const std::size_t status = ZSTD_decompressStream(stream_->context, &to, &from);
    out.resize(before + to.pos);
    if (ZSTD_isError(status)) {
        more_ = false;
        return std::unexpected(Error{"cannot unpack", std::string{"zstd: "} + ZSTD_getErrorName(status), {}});
    }
    packed_ = packed_.subspan(from.pos);
    // If the output is full, zstd may have kept more of it inside. If zstd neither read nor wrote anything, it needs
    // the bytes of the next record.
    more_ = (!packed_.empty() && (from.pos > 0 || to.pos > 0)) || to.pos == kPiece;
    return true;
}

}  // namespace anyperf::perfdata
