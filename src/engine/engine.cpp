#include "engine/engine.h"

#include <asm/unistd.h>
#include <elf.h>
#include <sys/mman.h>

#include "engine/freestanding/pages.h"

extern "C" {
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));
}

namespace anyperf::engine {

namespace {

/// Makes tables of pointers read-only. They are constant, but the entry code has relocated them (x86_64/cpu/entry.cpp).
void protect_relocated_tables() {
    const std::uint64_t base = address_of(&__ehdr_start);
    const auto* const headers = at_address<const Elf64_Phdr>(base + __ehdr_start.e_phoff);
    for (unsigned i = 0; i < __ehdr_start.e_phnum; ++i) {
        if (headers[i].p_type != PT_GNU_RELRO) continue;
        const std::uint64_t start = page_down(base + headers[i].p_vaddr);
        const std::uint64_t end = page_down(base + headers[i].p_vaddr + headers[i].p_memsz);
        if (start < end) kernel_call(__NR_mprotect, start, end - start, PROT_READ);
    }
}

/// Maps what is in the page cache of the code and the tables: a fault would map sixteen pages. What may be written is
/// left out, since a page that is read first faults a second time when it is written.
void map_read_only_part(std::uint64_t start) {
    const auto* const header = at_address<const Elf64_Ehdr>(start);
    const auto* const segments = at_address<const Elf64_Phdr>(start + header->e_phoff);
    for (std::size_t i = 0; i < header->e_phnum; ++i) {
        const Elf64_Phdr& segment = segments[i];
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
        const std::uint64_t from = page_down(segment.p_vaddr);
        map_present_pages(at_address<const void>(start + from), segment.p_vaddr + segment.p_memsz - from);
    }
}

}  // namespace

void add_own_image() {
    protect_relocated_tables();
    const std::uint64_t start = page_down(address_of(&__ehdr_start));
    const std::uint64_t end = page_up(address_of(&_end));
    own_pages.add(start, end);
    leave_out_of_dumps(start, end - start);
    map_read_only_part(start);
}

bool is_own_code(std::uint64_t address) {
    return address >= address_of(&__ehdr_start) && address < address_of(&_end);
}

}  // namespace anyperf::engine
