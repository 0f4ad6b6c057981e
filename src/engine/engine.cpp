#include "engine/engine.h"

#include "engine/freestanding/pages.h"

extern "C" {
extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));
}

namespace anyperf::engine {

void add_own_image() {
    const std::uint64_t start = page_down(address_of(&__ehdr_start));
    const std::uint64_t end = page_up(address_of(&_end));
    own_pages.add(start, end);
    leave_out_of_dumps(start, end - start);
}

bool is_own_code(std::uint64_t address) {
    return address >= address_of(&__ehdr_start) && address < address_of(&_end);
}

}  // namespace anyperf::engine
