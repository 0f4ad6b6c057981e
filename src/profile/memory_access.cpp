// memory_access.cpp: the texts are those of tools/perf/util/mem-events.c, Linux 6.1; the bits are those of union
// perf_mem_data_src in linux/perf_event.h. A field of bits has a text for each of them, the lowest first.
#include "profile/memory_access.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>

namespace anyperf::profile {

namespace {

using Texts = std::span<const std::string_view>;

constexpr std::array<std::string_view, 5> kOperations{"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
constexpr std::array<std::string_view, 14> kLevels{"N/A",
                                                   "HIT",
                                                   "MISS",
                                                   "L1",
                                                   "LFB/MAB",
                                                   "L2",
                                                   "L3",
                                                   "Local RAM",
                                                   "Remote RAM (1 hop)",
                                                   "Remote RAM (2 hops)",
                                                   "Remote Cache (1 hop)",
                                                   "Remote Cache (2 hops)",
                                                   "I/O",
                                                   "Uncached"};
/// By number from 8 on; smaller numbers are levels of caches. An empty one is "L" and the number, too.
constexpr std::array<std::string_view, 8> kNumberedLevels{"",        "CXL", "I/O",  "Any cache",
                                                          "LFB/MAB", "RAM", "PMEM", "N/A"};
constexpr std::array<std::string_view, 5> kHops{"N/A", "core, same node", "node, same socket", "socket, same board",
                                                "board"};
constexpr std::array<std::string_view, 5> kSnoops{"N/A", "None", "Hit", "Miss", "HitM"};
constexpr std::array<std::string_view, 2> kMoreSnoops{"Fwd", "Peer"};
constexpr std::array<std::string_view, 7> kTlbs{"N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"};
constexpr std::uint64_t kHit = 2, kMiss = 4;  // of levels and of TLBs

std::uint64_t bits(std::uint64_t word, unsigned from, unsigned count) {
    return word >> from & ((std::uint64_t{1} << count) - 1);
}

void add(std::string& text, std::string_view more) {
    if (!text.empty()) text += " or ";
    text += more;
}

void add_set(std::string& text, std::uint64_t set, Texts names) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if ((set >> i & 1) != 0) add(text, names[i]);
}

void add_outcome(std::string& text, std::uint64_t set) {
    if (text.empty()) text = "N/A";
    if ((set & kHit) != 0) text += " hit";
    if ((set & kMiss) != 0) text += " miss";
}

}  // namespace

// A level has two forms: bits, and a number of newer CPUs. With hops the distance replaces the first form.
std::string memory_level_text(std::uint64_t data_source) {
    const std::uint64_t level = bits(data_source, 5, 14), number = bits(data_source, 33, 4);
    const std::uint64_t hops = bits(data_source, 43, 3);
    std::string text, levels;
    if (hops != 0)
        levels = hops < kHops.size() ? std::string{kHops[hops]} + " " : "";
    else
        add_set(levels, level & ~(kHit | kMiss), kLevels);
    if (bits(data_source, 37, 1) != 0) text = "Remote ";
    text += levels;
    if (number != 0) {
        if (hops == 0 && !levels.empty()) text += " or ";
        const std::string_view name = number < 8 ? std::string_view{} : kNumberedLevels[number - 8];
        text += name.empty() ? "L" + std::to_string(number) : std::string{name};
    }
    add_outcome(text, level);
    return text;
}

std::string memory_snoop_text(std::uint64_t data_source) {
    std::string text;
    add_set(text, bits(data_source, 19, 5), kSnoops);
    add_set(text, bits(data_source, 38, 2), kMoreSnoops);
    return text.empty() ? "N/A" : text;
}

std::string memory_tlb_text(std::uint64_t data_source) {
    const std::uint64_t tlb = bits(data_source, 26, 7);
    std::string text;
    add_set(text, tlb & ~(kHit | kMiss), kTlbs);
    add_outcome(text, tlb);
    return text;
}

std::string memory_lock_text(std::uint64_t data_source) {
    const std::uint64_t lock = bits(data_source, 24, 2);
    if ((lock & 1) != 0) return "N/A";
    return (lock & 2) != 0 ? "Yes" : "No";
}

std::string memory_block_text(std::uint64_t data_source) {
    const std::uint64_t block = bits(data_source, 40, 3);
    if (block == 0 || (block & 1) != 0) return " N/A";
    std::string text;
    if ((block & 2) != 0) text += " Data";
    if ((block & 4) != 0) text += " Addr";
    return text;
}

std::string data_source_text(std::uint64_t data_source) {
    std::string operations;
    add_set(operations, bits(data_source, 0, 5), kOperations);
    return "|OP " + (operations.empty() ? "No" : operations) + "|LVL " + memory_level_text(data_source) + "|SNP " +
           memory_snoop_text(data_source) + "|TLB " + memory_tlb_text(data_source) + "|LCK " +
           memory_lock_text(data_source) + "|BLK " + memory_block_text(data_source);
}

// The bits are PERF_TXN_* of linux/perf_event.h, the texts those of hist_entry__transaction_snprintf() in
// tools/perf/util/sort.c, Linux 6.1. The upper half is the code that the program gave to its abort.
std::string transaction_text(std::uint64_t transaction) {
    constexpr std::array<std::string_view, 8> kTexts{"EL ",    "TX ",  "SYNC ",      "ASYNC ",
                                                     "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ "};
    constexpr std::uint64_t kSync = 1 << 2, kAsync = 1 << 3;
    std::string text;
    for (std::size_t i = 0; i < kTexts.size(); ++i)
        if ((transaction >> i & 1) != 0) text += kTexts[i];
    if (transaction != 0 && (transaction & (kSync | kAsync)) == 0) text += "NEITHER ";
    if (const std::uint64_t code = transaction >> 32; code != 0) text += fmt::format(":{:x}", code);
    return text;
}

std::string page_size_text(std::uint64_t bytes) {
    if (bytes == 0) return "N/A";
    constexpr std::string_view kUnits = "KMGT";
    std::size_t unit = 0;
    for (bytes >>= 10; bytes >= 1024 && unit + 1 < kUnits.size(); bytes >>= 10) ++unit;
    return std::to_string(bytes) + kUnits[unit];
}

}  // namespace anyperf::profile
