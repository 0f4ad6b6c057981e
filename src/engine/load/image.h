// image.h: an ELF file of this machine, checked and mapped as the kernel's loader maps it (fs/binfmt_elf.c describes
// what programs rely on: zeroed page ends, load bias, the break behind the last segment).
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <expected>

#include "engine/memory/executable_map.h"

namespace anyperf::engine {

/// Headers of an opened ELF file.
struct ElfFile {
    int fd = -1;
    Elf64_Ehdr header;
    static constexpr std::size_t kMaximumSegments = 64;
    Elf64_Phdr segments[kMaximumSegments];
    char interpreter[4096];  ///< empty: none

    bool has_interpreter() const { return interpreter[0] != 0; }
    bool position_independent() const { return header.e_type == ET_DYN; }
};

/// Reads and checks the headers of `fd`. The error is a positive errno: ENOEXEC for what is no ELF program of this
/// machine.
std::expected<void, long> read_elf(int fd, ElfFile& out);

/// Where a file has been mapped.
struct Image {
    std::uint64_t bias = 0;  ///< added to the file's addresses
    std::uint64_t entry = 0;
    std::uint64_t headers = 0;  ///< program headers in memory; 0 where no segment holds them
    std::uint64_t code_start = 0, code_end = 0, data_start = 0, data_end = 0;
    std::uint64_t end = 0;  ///< behind the last segment, bss included
};

/// Maps the segments; `preferred` is the wished bias of a position-independent file (0: the kernel chooses). Adds what
/// is executable to `executable`. The error is a positive errno.
std::expected<Image, long> map_image(const ElfFile& file, std::uint64_t preferred, ExecutableMap& executable);

}  // namespace anyperf::engine
