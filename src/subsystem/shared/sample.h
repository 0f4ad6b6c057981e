// sample.h: writes a SAMPLE record into a ring, from the facts gathered at an overflow: the fields of sample_type in
// the kernel's order and with its sizes (perf_event_open(2), PERF_RECORD_SAMPLE; perf_output_sample() of Linux 6.18). A
// field whose fact is not known gets the value that the kernel writes in that case.
//
// Freestanding, as event_page.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "subsystem/shared/event_page.h"
#include "subsystem/shared/read_layout.h"
#include "subsystem/shared/ring.h"
#include "subsystem/shared/sample_id.h"

namespace anyperf::subsystem {

/// struct perf_branch_entry. abi/branch_entry.h describes `flags`.
struct BranchEntry {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint64_t flags = 0;
};

/// The user stack. `copy` reads from it and returns how many bytes it could read; the rest of the field is zeros.
/// Without `copy` there is no stack, and the field is a single 0.
struct UserStack {
    std::uint64_t pointer = 0;
    void* context = nullptr;
    std::size_t (*copy)(void* context, void* to, std::uint64_t address, std::size_t bytes) = nullptr;
};

inline constexpr std::uint16_t kMiscUser = 2;
inline constexpr std::uint16_t kMiscExactIp = 1u << 14;
/// DATA_SRC of an event without memory data: every part is "not available".
inline constexpr std::uint64_t kUnknownDataSource = 0x1e05080021;

/// What was found at an overflow. Pointers are borrowed for the call. Registers are arrays of 24, indexed by perf's
/// register numbers (abi::kX86Registers); null: no registers (PERF_SAMPLE_REGS_ABI_NONE).
struct SampleFacts {
    RecordOrigin origin;
    std::uint16_t misc = kMiscUser;
    std::uint64_t ip = 0;
    std::uint64_t addr = 0;
    std::uint64_t period = 0;
    ReadValues read;                           ///< with PERF_SAMPLE_READ: at least one member
    std::span<const std::uint64_t> callchain;  ///< with PERF_CONTEXT_ markers
    std::span<const std::byte> raw;
    std::span<const BranchEntry> branches;  ///< newest first
    const std::uint64_t* user_registers = nullptr;
    const std::uint64_t* interrupted_registers = nullptr;
    UserStack stack;
    std::uint64_t weight = 0;  ///< of WEIGHT; for WEIGHT_STRUCT its three parts in one word
    std::uint64_t data_source = kUnknownDataSource;
    std::uint64_t transaction = 0;
    std::uint64_t physical_address = 0;
    std::uint64_t cgroup = 1;
    std::uint64_t data_page_size = 0;
    std::uint64_t code_page_size = 0;
};

/// Bytes of the whole record, a multiple of 8. A record above kLongestRecord can't be written.
std::size_t sample_bytes(const EventPage& event, const SampleFacts& facts);

/// Writes the record. One that is too long or does not fit is dropped and counted as lost. The caller holds the locks
/// of the ring and of the event.
WriteResult write_sample(Ring ring, EventPage& event, const SampleFacts& facts);

/// Bytes of stack in a record that is `others` bytes long without STACK_USER: `asked`, but not beyond the end of user
/// memory, and not so many that the record exceeds 64 KiB (perf_sample_ustack_size()).
std::size_t stack_bytes(std::size_t asked, std::size_t others, std::uint64_t pointer);

}  // namespace anyperf::subsystem
