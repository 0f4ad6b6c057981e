// cpuid.cpp: see cpuid.h.
#include "engine/x86_64/cpuid.h"

#include <array>

namespace anyperf::engine::x86_64 {

namespace {

/// Bits that are taken out of a leaf, with the reason: SDM volume 2, CPUID.
struct Hidden {
    std::uint32_t leaf;
    std::uint32_t subleaf;
    CpuidAnswer bits;
    const char* reason;
};

constexpr std::array kHidden{
    Hidden{7,
           0,
           {0, 1u << 4 | 1u << 11, 1u << 7, 1u << 13 | 1u << 20},
           "HLE, RTM (and the note that it always aborts), CET: the engine has neither"},
};

}  // namespace

CpuidAnswer cpuid(std::uint32_t leaf, std::uint32_t subleaf, const RunHeader* run) {
    CpuidAnswer answer;
    asm volatile("cpuid"
                 : "=a"(answer.eax), "=b"(answer.ebx), "=c"(answer.ecx), "=d"(answer.edx)
                 : "a"(leaf), "c"(subleaf));
    for (const Hidden& hidden : kHidden) {
        if (hidden.leaf != leaf || hidden.subleaf != subleaf) continue;
        answer.eax &= ~hidden.bits.eax;
        answer.ebx &= ~hidden.bits.ebx;
        answer.ecx &= ~hidden.bits.ecx;
        answer.edx &= ~hidden.bits.edx;
    }
    for (std::uint32_t i = 0; run != nullptr && i < run->identity_rows && i < kIdentityRows; ++i) {
        const RunHeader::IdentityRow& row = run->identity[i];
        if (row.leaf != leaf || (row.subleaf != ~0u && row.subleaf != subleaf)) continue;
        return {(answer.eax & row.keep[0]) | row.value[0], (answer.ebx & row.keep[1]) | row.value[1],
                (answer.ecx & row.keep[2]) | row.value[2], (answer.edx & row.keep[3]) | row.value[3]};
    }
    return answer;
}

bool loop_is_fast() {
    constexpr std::uint32_t kAuthenticAmd = 0x444d4163;  // the last four letters of a vendor
    constexpr std::uint32_t kHygonGenuine = 0x656e6975;
    const std::uint32_t vendor = cpuid(0, 0, nullptr).ecx;
    return vendor == kAuthenticAmd || vendor == kHygonGenuine;
}

}  // namespace anyperf::engine::x86_64
