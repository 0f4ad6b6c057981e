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
    // The section headers are last.
    const std::size_t size = header->e_shoff + std::size_t{header->e_shnum} * header->e_shentsize;
    auto image = ElfImage::of(std::vector<std::byte>(begin, begin + size));
    if (!image) return std::nullopt;
    return std::move(*image);
}

}  // namespace anyperf::symbols
