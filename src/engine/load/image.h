// image.h: reads an x86-64 ELF file and maps it as the kernel's loader does (fs/binfmt_elf.c). This includes details
// that programs rely on: the rest of the page after a segment's bytes of the file is zero, the load bias is a multiple
// of the largest alignment, and the break begins after the last segment (Image::end).
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <expected>

#include "engine/memory/executable_map.h"

namespace anyperf::engine {

/// The headers of an open ELF file.
struct ElfFile {
    int fd = -1;
    Elf64_Ehdr header;
    static constexpr std::size_t kMaximumSegments = 64;
    Elf64_Phdr segments[kMaximumSegments];
    char interpreter[4096];  ///< path of the dynamic loader; empty if the file names none

    bool has_interpreter() const { return interpreter[0] != 0; }
    bool position_independent() const { return header.e_type == ET_DYN; }
};

/// Reads and checks the headers of `fd`, and stores `fd` in `out.fd`, also after an error. The error is a positive
/// errno: ENOEXEC if the file is not an x86-64 ELF program.
std::expected<void, long> read_elf(int fd, ElfFile& out);

/// Where a file has been mapped.
struct Image {
    std::uint64_t bias = 0;  ///< added to the file's addresses
    std::uint64_t entry = 0;
    std::uint64_t headers = 0;  ///< the program headers in memory; 0 if no segment holds them
    std::uint64_t code_start = 0, code_end = 0, data_start = 0, data_end = 0;
    std::uint64_t end = 0;  ///< the end of the last segment, bss included
};

/// Maps the segments and adds the executable ones to `executable`. `preferred` is the wanted bias of a
/// position-independent file; if it is 0 or the addresses are occupied, the kernel chooses. The error is a positive
/// errno.
std::expected<Image, long> map_image(const ElfFile& file, std::uint64_t preferred, ExecutableMap& executable);

}  // namespace anyperf::engine
