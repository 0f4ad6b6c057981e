// engine.cpp: see engine.h.
#include "engine/engine.h"

extern "C" {
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));
}

namespace anyperf::engine {

bool Engine::owns(std::uint64_t start, std::uint64_t end) const {
    const std::uint64_t books = address_of(run);
    if (run != nullptr && start < books + kRunStateBytes && end > books) return true;
    if (start < address_of(this) + sizeof *this && end > address_of(this)) return true;
    return (start < address_of(&_end) && end > address_of(&__ehdr_start)) || cache.touches(start, end);
}

}  // namespace anyperf::engine
