// cpuid.cpp: first the features that translated code cannot have are hidden, then the rows of the presented CPU are
// laid over the answer: each register is (host's & keep) | value. The host is not asked for a leaf of which nothing is
// kept, nor for one of a CPU that is complete: below a hypervisor the instruction takes 1 to 20 µs, and the dynamic
// linker of each program executes some thirty of them.
#include "engine/x86_64/cpu/cpuid.h"

#include <array>

#include "run/presented_leaf.h"

namespace anyperf::engine::x86_64 {

namespace {

// ECX of leaf 0: the last four letters of the vendor.
constexpr std::uint32_t kGenuineIntel = 0x6c65746e;
constexpr std::uint32_t kAuthenticAmd = 0x444d4163;
constexpr std::uint32_t kHygonGenuine = 0x656e6975;

/// Bits that are cleared in a leaf, and why (SDM volume 2, "CPUID").
struct Hidden {
    std::uint32_t leaf;
    std::uint32_t subleaf;
    CpuidAnswer bits;
    const char* reason;
};

constexpr std::array kHidden{
    Hidden{7,
           0,
           {0, 1u << 4 | 1u << 11, 1u << 7, 1u << 11 | 1u << 20},
           "HLE, RTM and RTM_ALWAYS_ABORT, CET_SS and CET_IBT: translated code supports neither transactions nor CET"},
};

/// Hides RDRAND (leaf 1, ECX bit 30) and RDSEED (leaf 7, EBX bit 18): most programs then take other random bytes, as on
/// a CPU without them. If a program executes them all the same, a deterministic run decides what they return.
void hide_random(std::uint32_t leaf, std::uint32_t subleaf, CpuidAnswer& answer) {
    if (leaf == 1) answer.ecx &= ~(1u << 30);
    if (leaf == 7 && subleaf == 0) answer.ebx &= ~(1u << 18);
}

}  // namespace

CpuidAnswer without_hidden_features(std::uint32_t leaf, std::uint32_t subleaf, CpuidAnswer answer) {
    for (const Hidden& hidden : kHidden) {
        if (hidden.leaf != leaf || hidden.subleaf != subleaf) continue;
        answer.eax &= ~hidden.bits.eax;
        answer.ebx &= ~hidden.bits.ebx;
        answer.ecx &= ~hidden.bits.ecx;
        answer.edx &= ~hidden.bits.edx;
    }
    return answer;
}

CpuidAnswer host_cpuid(std::uint32_t leaf, std::uint32_t subleaf, const run::RunHeader* run) {
    for (std::uint32_t i = 0; run != nullptr && i < run->host_leaf_count && i < run::kHostLeaves; ++i) {
        const run::RunHeader::HostLeaf& known = run->host_leaves[i];
        if (known.leaf == leaf && (known.subleaf == subleaf || known.subleaf == ~0u))
            return {known.eax, known.ebx, known.ecx, known.edx};
    }
    CpuidAnswer answer;
    asm volatile("cpuid"
                 : "=a"(answer.eax), "=b"(answer.ebx), "=c"(answer.ecx), "=d"(answer.edx)
                 : "a"(leaf), "c"(subleaf));
    return answer;
}

CpuidAnswer cpuid(std::uint32_t leaf, std::uint32_t subleaf, const run::RunHeader* run) {
    const auto* const row = run != nullptr ? run::presented_leaf(*run, leaf, subleaf) : nullptr;
    const bool complete = run != nullptr && run->identity_complete != 0;
    CpuidAnswer answer{};
    if (!complete && (row == nullptr || run::keeps_something(*row)))
        answer = without_hidden_features(leaf, subleaf, host_cpuid(leaf, subleaf, run));
    if (run != nullptr && run->deterministic != 0) hide_random(leaf, subleaf, answer);
    if (row == nullptr) return answer;
    return {(answer.eax & row->keep[0]) | row->value[0], (answer.ebx & row->keep[1]) | row->value[1],
            (answer.ecx & row->keep[2]) | row->value[2], (answer.edx & row->keep[3]) | row->value[3]};
}

bool can_pair_returns(const run::RunHeader* run) {
    constexpr std::uint32_t kBmi2 = 1u << 8;
    return host_cpuid(0, 0, run).eax >= 7 && (host_cpuid(7, 0, run).ebx & kBmi2) != 0;
}

bool has_rdtscp(const run::RunHeader* run) {
    constexpr std::uint32_t kFeatures = 0x80000001;
    constexpr std::uint32_t kRdtscp = 1u << 27;
    return host_cpuid(0x80000000, 0, run).eax >= kFeatures && (host_cpuid(kFeatures, 0, run).edx & kRdtscp) != 0;
}

bool is_intel(const run::RunHeader* run) {
    return host_cpuid(0, 0, run).ecx == kGenuineIntel;
}

bool is_zen_3_or_4(const run::RunHeader* run) {
    constexpr std::uint32_t kFamilies = 0x0ff00f00;  // of EAX: the family and the extended family
    constexpr std::uint32_t kFamily25 = 0x00a00f00;
    return host_cpuid(0, 0, run).ecx == kAuthenticAmd && (host_cpuid(1, 0, run).eax & kFamilies) == kFamily25;
}

bool loop_is_fast(const run::RunHeader* run) {
    const std::uint32_t vendor = host_cpuid(0, 0, run).ecx;
    return vendor == kAuthenticAmd || vendor == kHygonGenuine;
}

}  // namespace anyperf::engine::x86_64
