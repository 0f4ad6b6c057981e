// memory_access.h: the DATA_SRC word of a sample as perf prints it: what the access was, where its data came from, and
// what caches and TLBs said.
#pragma once

#include <cstdint>
#include <string>

namespace anyperf::profile {

/// "L3 hit", "Remote RAM (1 hop) miss", "N/A".
std::string memory_level_text(std::uint64_t data_source);
/// "None", "HitM", "N/A".
std::string memory_snoop_text(std::uint64_t data_source);
/// "L1 or L2 hit", "N/A".
std::string memory_tlb_text(std::uint64_t data_source);
/// "Yes", "No", "N/A".
std::string memory_lock_text(std::uint64_t data_source);
/// What delayed a load: " N/A", " Data", " Addr".
std::string memory_block_text(std::uint64_t data_source);
/// "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A", as `perf script -F data_src`.
std::string data_source_text(std::uint64_t data_source);

/// "TX SYNC CON :1f", PERF_SAMPLE_TRANSACTION as `perf report -s transaction`; empty of 0.
std::string transaction_text(std::uint64_t transaction);

/// "4K", "2M", "1G"; "N/A" of 0.
std::string page_size_text(std::uint64_t bytes);

}  // namespace anyperf::profile
