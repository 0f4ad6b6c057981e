// sample.h: a SAMPLE record from what is known at an overflow, written straight into the ring: the fields that
// sample_type asks for, in the kernel's order, of exactly the size that they take (perf_event_open(2),
// PERF_RECORD_SAMPLE; perf_output_sample() of Linux 6.18). Fields of which nothing is known are there with the value
// that the kernel gives them.
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

/// struct perf_branch_entry: abi/branch_entry.h describes the third word.
struct BranchEntry {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint64_t flags = 0;
};

/// The stack of user mode. `copy` takes bytes from it, and tells how many it could; the rest of the field is zeros.
/// Without `copy` there is no stack, and the field is one word 0.
struct UserStack {
    std::uint64_t pointer = 0;
    void* context = nullptr;
    std::size_t (*copy)(void* context, void* to, std::uint64_t address, std::size_t bytes) = nullptr;
};

inline constexpr std::uint16_t kMiscUser = 2;
inline constexpr std::uint16_t kMiscExactIp = 1u << 14;
/// DATA_SRC of an event that knows nothing of data: every part "not available".
inline constexpr std::uint64_t kUnknownDataSource = 0x1e05080021;

/// What was found at an overflow. All that is pointed to is borrowed for the call. Registers are arrays of 24, by
/// perf's numbers (abi::kX86Registers); null: there are none (abi word 0).
struct SampleFacts {
    Moment moment;
    std::uint16_t misc = kMiscUser;
    std::uint64_t ip = 0;
    std::uint64_t addr = 0;
    std::uint64_t period = 0;
    ReadValues read;                           ///< with PERF_SAMPLE_READ one member at least
    std::span<const std::uint64_t> callchain;  ///< with its PERF_CONTEXT_ markers
    std::span<const std::byte> raw;
    std::span<const BranchEntry> branches;  ///< newest first
    const std::uint64_t* user_registers = nullptr;
    const std::uint64_t* interrupted_registers = nullptr;
    UserStack stack;
    std::uint64_t weight = 0;  ///< or the three parts of WEIGHT_STRUCT
    std::uint64_t data_source = kUnknownDataSource;
    std::uint64_t transaction = 0;
    std::uint64_t physical_address = 0;
    std::uint64_t cgroup = 1;
    std::uint64_t data_page_size = 0;
    std::uint64_t code_page_size = 0;
};

/// Bytes of the whole record, a multiple of 8; above kLongestRecord it can't be written.
std::size_t sample_bytes(const EventPage& event, const SampleFacts& facts);

/// Writes it; one that is too long or finds no room is dropped and counted as lost. The caller holds the ring's lock
/// and the event's.
Written write_sample(Ring ring, EventPage& event, const SampleFacts& facts);

/// Bytes of stack that a record has which is `others` bytes long without its STACK_USER field: what was asked for, but
/// not beyond the end of user memory nor a record of 64 KiB (perf_sample_ustack_size()).
std::size_t stack_bytes(std::size_t asked, std::size_t others, std::uint64_t pointer);

}  // namespace anyperf::subsystem
