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

}  // namespace

void add_own_image() {
    protect_relocated_tables();
    const std::uint64_t start = page_down(address_of(&__ehdr_start));
    const std::uint64_t end = page_up(address_of(&_end));
    own_pages.add(start, end);
    leave_out_of_dumps(start, end - start);
}

bool is_own_code(std::uint64_t address) {
    return address >= address_of(&__ehdr_start) && address < address_of(&_end);
}

}  // namespace anyperf::engine
