#include "engine/engine.h"

#include <asm/unistd.h>
#include <sys/mman.h>

#include "engine/freestanding/own_segments.h"
#include "engine/freestanding/pages.h"

extern "C" {
extern const char _end __attribute__((visibility("hidden")));
}

namespace anyperf::engine {

namespace {

/// Makes tables of pointers read-only. They are constant, but the entry code has relocated them (x86_64/cpu/entry.cpp).
void protect_relocated_tables() {
    for (const Elf64_Phdr& segment : own_segments()) {
        if (segment.p_type != PT_GNU_RELRO) continue;
        const std::uint64_t start = page_down(own_base() + segment.p_vaddr);
        const std::uint64_t end = page_down(own_base() + segment.p_vaddr + segment.p_memsz);
        if (start < end) kernel_call(__NR_mprotect, start, end - start, PROT_READ);
    }
}

/// Maps what is in the page cache of the code and the tables by one call; faults would map it by sixteen pages. What
/// may be written is left out, since a page that is read first faults a second time when it is written.
void map_read_only_part() {
    for (const Elf64_Phdr& segment : own_segments()) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
        const std::uint64_t from = page_down(segment.p_vaddr);
        map_present_pages(at_address<const void>(own_base() + from), segment.p_vaddr + segment.p_memsz - from);
    }
}

}  // namespace

void add_own_image() {
    protect_relocated_tables();
    const std::uint64_t start = page_down(own_base());
    const std::uint64_t end = page_up(address_of(&_end));
    own_pages.add(start, end);
    leave_out_of_dumps(start, end - start);
    map_read_only_part();
}

bool is_own_code(std::uint64_t address) {
    return address >= own_base() && address < address_of(&_end);
}

}  // namespace anyperf::engine
