#include "exports/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace anyperf::exports {

namespace {

constexpr int kWindow = 15;  // bits: the largest of zlib
constexpr int kGzip = 16;    // added to the window: with a header of gzip
constexpr int kMemory = 8;   // zlib's default

/// The whole input in one stream, of raw deflate or with gzip's header: zlib takes the choice from the sign and size of
/// the window. zlib counts in 32 bits, so large input is passed in parts.
std::string compressed(std::string_view bytes, int window) {
    z_stream stream{};
    // Fails only without memory, as operator new does.
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc{};
    std::string result;
    std::string piece(64 << 10, '\0');
    std::size_t done = 0;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        if (stream.avail_in == 0) {
            const std::size_t size = std::min<std::size_t>(bytes.size() - done, std::numeric_limits<uInt>::max());
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + done));
            stream.avail_in = static_cast<uInt>(size);
            done += size;
        }
        stream.next_out = reinterpret_cast<Bytef*>(piece.data());
        stream.avail_out = static_cast<uInt>(piece.size());
        status = ::deflate(&stream, done == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
        result.append(piece.data(), piece.size() - stream.avail_out);
    }
    deflateEnd(&stream);
    return result;
}

}  // namespace

std::string gzip(std::string_view bytes) {
    return compressed(bytes, kWindow + kGzip);
}

// A negative window means raw deflate, without header and checksum (zlib.h, deflateInit2()).
std::string deflate(std::string_view bytes) {
    return compressed(bytes, -kWindow);
}

}  // namespace anyperf::exports
