// sink.cpp: pieces() splits at the ring's end; without memory it only counts, so the functions below work for both.
#include "subsystem/shared/sink.h"

namespace anyperf::subsystem {

void Sink::put(const void* bytes, std::size_t count) {
    const auto* from = static_cast<const std::byte*>(bytes);
    pieces(count,
           [from](void* piece, std::size_t part, std::size_t done) { __builtin_memcpy(piece, from + done, part); });
}

void Sink::zeros(std::size_t count) {
    pieces(count, [](void* piece, std::size_t part, std::size_t) { __builtin_memset(piece, 0, part); });
}

}  // namespace anyperf::subsystem
