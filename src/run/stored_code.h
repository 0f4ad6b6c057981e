// stored_code.h: the head of a file of stored translations (engine/store), which the engine writes and `anyperf cache`
// lists. One such file has the translations of one executable file, made by one build of the engine for one way of
// counting.
#pragma once

#include <cstdint>

namespace anyperf::run {

inline constexpr std::uint64_t kStoredCodeMagic = 0x34306564'6f437941;  ///< "AyCode04"
inline constexpr char kStoredCodeSuffix[] = ".code";
inline constexpr std::size_t kMostStoredCodeBytes = std::size_t{64} << 20;

/// What translations are valid for. Two files with equal keys have the same name.
struct StoredCodeKey {
    std::uint8_t engine_build[20];  ///< the build id of the engine's executable
    std::uint32_t cpu;              ///< RunHeader::cpu_signature
    std::uint32_t classes;          ///< that the code counts
    std::uint8_t budgeted;
    std::uint8_t isa;       ///< of the presented CPU: the level, and 128 if it has others (decode/isa.h)
    std::int8_t heat;       ///< what each execution of a block that may begin a trace adds to its word; 0: no traces
    std::uint8_t emulated;  ///< bit 0: rdtsc, rdrand and the like, of a deterministic run; bit 1: rdtscp
    std::uint32_t machine;  ///< checksum of the modelled machine, if the code counts cycles; else 0
    std::uint32_t unused;   ///< no padding, because the key is compared and hashed by its bytes
    // The translated file (stat(2)).
    std::uint64_t device;
    std::uint64_t inode;
    std::uint64_t bytes;
    std::int64_t modified_s;
    std::int64_t changed_s;
    std::uint32_t modified_ns;
    std::uint32_t changed_ns;

    bool operator==(const StoredCodeKey&) const = default;
};
static_assert(sizeof(StoredCodeKey) == 88);

/// The head. All places are in bytes from its start.
struct StoredCodeHeader {
    std::uint64_t magic;
    std::uint64_t checksum;  ///< of the head after this word
    StoredCodeKey key;
    std::uint32_t file_bytes;
    std::uint32_t blocks;      ///< in the table of blocks
    std::uint32_t first_page;  ///< of the translated file, in which a block begins; in pages
    std::uint32_t page_count;  ///< from it on
    std::uint32_t starts_at;
    std::uint32_t blocks_at;
    std::uint32_t records_at;
    char path[256];  ///< of the translated file, for people; the end of it if it is longer
};
static_assert(sizeof(StoredCodeHeader) == 392);

}  // namespace anyperf::run
