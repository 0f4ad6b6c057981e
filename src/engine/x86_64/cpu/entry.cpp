// entry.cpp: the entry point of the engine's executable. It is a static-pie without a libc, so it relocates itself: the
// kernel has mapped it at some address, and pointers in its data must be corrected before any C++ code uses one.
#include <elf.h>

#include <cstddef>
#include <cstdint>

#include "engine/freestanding/own_segments.h"
#include "engine/freestanding/pages.h"

extern "C" {

extern const Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));

[[noreturn]] void engine_start(std::uint64_t* stack);

/// Has the kernel copy the pages with data by one call: nearly all of them have pointers.
static void make_data_ready() {
    using namespace anyperf::engine;
    for (const Elf64_Phdr& segment : own_segments()) {
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
        const std::uint64_t from = page_down(segment.p_vaddr);
        touch_pages(at_address<const void>(own_base() + from), segment.p_vaddr + segment.p_filesz - from);
    }
}

/// Applies the R_X86_64_RELATIVE relocations, the only kind in a freestanding static-pie. It uses no pointer that must
/// be relocated first.
void relocate_engine() {
    const std::uint64_t base = anyperf::engine::own_base();
    const Elf64_Rela* relocations = nullptr;
    std::size_t bytes = 0;
    for (const Elf64_Dyn* entry = _DYNAMIC; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_RELA) relocations = reinterpret_cast<const Elf64_Rela*>(base + entry->d_un.d_ptr);
        if (entry->d_tag == DT_RELASZ) bytes = entry->d_un.d_val;
    }
    make_data_ready();
    for (std::size_t i = 0; relocations != nullptr && i < bytes / sizeof(Elf64_Rela); ++i)
        *reinterpret_cast<std::uint64_t*>(base + relocations[i].r_offset) =
            base + static_cast<std::uint64_t>(relocations[i].r_addend);
}

/// The stack on which the engine starts. It does not use the initial stack, which is the program's: RLIMIT_STACK may
/// allow less than the engine needs, and the engine would leave its data in the program's memory.
[[gnu::used]] alignas(16) char engine_start_stack[65536] __attribute__((visibility("hidden")));

/// The kernel enters here with the address of argc in rsp (System V ABI, "Process Initialization"). engine_start() gets
/// that address.
[[gnu::naked, noreturn]] void _start() {
    asm("xor %ebp, %ebp\n\t"
        "mov %rsp, %rbx\n\t"
        "lea engine_start_stack+65536(%rip), %rsp\n\t"
        "call relocate_engine\n\t"
        "mov %rbx, %rdi\n\t"
        "call engine_start");
}
}
