#include "suite/uprobe_attr.h"

#include <elf.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstring>

#include "suite/expect.h"
#include "suite/needs.h"

extern "C" const char __executable_start[];

namespace conformance {

const char* own_path() {
    static std::array<char, PATH_MAX> path{};
    if (::readlink("/proc/self/exe", path.data(), path.size() - 1) <= 0) throw Failure{"readlink failed"};
    return path.data();
}

std::uint64_t file_offset(const void* location) {
    const auto address = reinterpret_cast<std::uint64_t>(location);
    Elf64_Ehdr header{};
    std::memcpy(&header, __executable_start, sizeof header);
    const std::uint64_t base = header.e_type == ET_DYN ? reinterpret_cast<std::uint64_t>(__executable_start) : 0;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        std::memcpy(&segment, __executable_start + header.e_phoff + i * sizeof segment, sizeof segment);
        const std::uint64_t start = base + segment.p_vaddr;
        if (segment.p_type == PT_LOAD && address >= start && address < start + segment.p_filesz)
            return address - start + segment.p_offset;
    }
    throw Failure{"expected that a segment of the file contains the address"};
}

Attr uprobe_at(const void* address, bool at_return, std::uint64_t period) {
    Attr attr = software(at_return ? 1 : 0, period);
    attr.type = pmu_type("uprobe").value();
    attr.config1 = reinterpret_cast<std::uint64_t>(own_path());
    attr.config2 = file_offset(address);
    return attr;
}

}  // namespace conformance
