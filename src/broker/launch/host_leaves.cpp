// host_leaves.cpp: the leaves that the C library asks for in each program (cacheinfo.h and cpu_features.c of glibc).
// Not among them: leaf 1, 11, 31 and 0x8000001e, which contain the number of the CPU that executes the instruction.
#include "broker/launch/host_leaves.h"

#include <cpuid.h>

#include "run/presented_leaf.h"

namespace anyperf::broker {

namespace {

constexpr std::uint32_t kAnySubleaf = ~0u;

/// A leaf, with its subleaves from 0 to `last`; kAnySubleaf: it has none, so ECX does not matter.
struct LeafRow {
    std::uint32_t leaf;
    std::uint32_t last;
};

constexpr std::uint32_t kExtended = 0x80000000;
constexpr std::uint32_t kCaches = 4;
constexpr LeafRow kLeaves[]{{2, kAnySubleaf},
                            {kCaches, 4},
                            {7, 1},
                            {13, 7},
                            {20, 0},
                            {25, kAnySubleaf},
                            {kExtended, kAnySubleaf},
                            {0x80000001, kAnySubleaf},
                            {0x80000005, kAnySubleaf},
                            {0x80000006, kAnySubleaf},
                            {0x80000007, kAnySubleaf},
                            {0x80000008, kAnySubleaf}};
constexpr LeafRow kAmdCaches{0x8000001d, 4};

run::RunHeader::HostLeaf read(std::uint32_t leaf, std::uint32_t subleaf) {
    run::RunHeader::HostLeaf answer{leaf, subleaf, 0, 0, 0, 0};
    __cpuid_count(leaf, subleaf == kAnySubleaf ? 0 : subleaf, answer.eax, answer.ebx, answer.ecx, answer.edx);
    return answer;
}

void add(run::RunHeader& header, const run::RunHeader::HostLeaf& answer) {
    if (header.host_leaf_count < run::kHostLeaves) header.host_leaves[header.host_leaf_count++] = answer;
}

/// Whether programs see nothing of the host's answer.
bool is_replaced(const run::RunHeader& header, std::uint32_t leaf, std::uint32_t subleaf) {
    const auto* const row = run::presented_leaf(header, leaf, subleaf);
    return row != nullptr && !run::keeps_something(*row);
}

/// The leaf, if the CPU has it. The subleaves of caches end at the first that has no type. If that is subleaf 0, as in
/// leaf 4 of AMD, so are all.
void add_leaf(run::RunHeader& header, const LeafRow& row, std::uint32_t highest) {
    if (row.leaf > highest) return;
    if (is_replaced(header, row.leaf, kAnySubleaf)) return;
    if (row.last == kAnySubleaf) return add(header, read(row.leaf, kAnySubleaf));
    constexpr std::uint32_t kType = 31;
    for (std::uint32_t subleaf = 0; subleaf <= row.last; ++subleaf) {
        if (is_replaced(header, row.leaf, subleaf)) continue;
        run::RunHeader::HostLeaf answer = read(row.leaf, subleaf);
        const bool ends = (row.leaf == kCaches || row.leaf == kAmdCaches.leaf) && (answer.eax & kType) == 0;
        if (ends && subleaf == 0) answer.subleaf = kAnySubleaf;
        add(header, answer);
        if (ends) return;
    }
}

/// Leaf 7 says so: its CPUs differ in caches and features (SDM volume 2, CPUID, EDX bit 15).
bool has_several_kinds(std::uint32_t highest) {
    constexpr std::uint32_t kHybrid = 1u << 15;
    return highest >= 7 && (read(7, 0).edx & kHybrid) != 0;
}

}  // namespace

void list_host_leaves(run::RunHeader& header) {
    const run::RunHeader::HostLeaf first = read(0, kAnySubleaf);
    if (has_several_kinds(first.eax)) return;
    add(header, first);
    const bool is_amd = first.ebx == signature_AMD_ebx;
    const std::uint32_t highest_extended = read(kExtended, 0).eax;
    for (const LeafRow& row : kLeaves) add_leaf(header, row, row.leaf >= kExtended ? highest_extended : first.eax);
    if (is_amd) add_leaf(header, kAmdCaches, highest_extended);
}

}  // namespace anyperf::broker
