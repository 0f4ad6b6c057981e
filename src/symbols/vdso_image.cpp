// vdso_image.cpp: the vDSO is a small shared object that the kernel maps into each process (vdso(7)). Programs call it
// for clock_gettime() and the like, so samples are in it, but no file has its symbols. The auxiliary vector has the
// address of its ELF header, and the whole image is in memory, section headers and dynamic symbols included. So it is
// copied from this process.
//
// The copy serves for another process, too: the kernel maps the same vDSO into all 64-bit processes of one boot.
#include "symbols/vdso_image.h"

#include <elf.h>
#include <sys/auxv.h>

#include <utility>
#include <vector>

namespace anyperf::symbols {

std::optional<ElfImage> vdso_image() {
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(getauxval(AT_SYSINFO_EHDR));
    if (!header) return std::nullopt;
    const auto* begin = reinterpret_cast<const std::byte*>(header);
    // Nothing says how large the image is. The section headers are last, so they end it.
    const std::size_t size = header->e_shoff + std::size_t{header->e_shnum} * header->e_shentsize;
    auto image = ElfImage::of(std::vector<std::byte>(begin, begin + size));
    if (!image) return std::nullopt;
    return std::move(*image);
}

}  // namespace anyperf::symbols
