// own_segments.h: the program headers of this executable. The linker defines `__ehdr_start`, the address of its ELF
// header, which is where it is loaded. Nothing here needs a relocation, so the entry code may use it before it has
// applied them.
#pragma once

#include <elf.h>

#include <cstdint>
#include <span>

extern "C" {
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): nothing initializes it, the linker defines it
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));
}

namespace anyperf::engine {

/// Where the executable is loaded: what addresses in its headers are added to.
inline std::uint64_t own_base() {
    return reinterpret_cast<std::uint64_t>(&__ehdr_start);
}

inline std::span<const Elf64_Phdr> own_segments() {
    return {reinterpret_cast<const Elf64_Phdr*>(own_base() + __ehdr_start.e_phoff), __ehdr_start.e_phnum};
}

}  // namespace anyperf::engine
