// engine.cpp: see engine.h.
#include "engine/engine.h"

#include "engine/freestanding/pages.h"

extern "C" {
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));
}

namespace anyperf::engine {

void own_image() {
    own_pages.add(page_down(address_of(&__ehdr_start)), page_up(address_of(&_end)));
}

bool is_own_code(std::uint64_t address) {
    return address >= address_of(&__ehdr_start) && address < address_of(&_end);
}

}  // namespace anyperf::engine
