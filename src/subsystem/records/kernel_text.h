// kernel_text.h: records about code that the kernel generates or changes at run time: KSYMBOL, BPF_EVENT, TEXT_POKE.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "subsystem/records/record.h"

namespace anyperf::subsystem {

struct KernelSymbol {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint16_t type = 0;     ///< abi::kKsymbolTypes
    bool unregistered = false;  ///< PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER
    std::string_view name;
};
Record ksymbol_record(const KernelSymbol& symbol);

struct BpfProgram {
    std::uint16_t type = 0;  ///< abi::kBpfEventTypes
    std::uint32_t id = 0;
    std::array<std::byte, 8> tag{};
};
Record bpf_event_record(const BpfProgram& program);

/// Kernel code at `address` was changed from `before` to `after`. Their sizes together must be below 64 KiB.
Record text_poke_record(std::uint64_t address, std::span<const std::byte> before, std::span<const std::byte> after);

}  // namespace anyperf::subsystem
