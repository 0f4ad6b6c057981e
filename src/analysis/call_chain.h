// call_chain.h: the addresses of a PERF_SAMPLE_CALLCHAIN with the mode in which each is valid.
#pragma once

#include <cstdint>

#include "abi/constant.h"
#include "abi/records.h"
#include "analysis/raw_stacks.h"
#include "perfdata/sample_layout.h"
#include "perfdata/types.h"

namespace anyperf::analysis {

/// The mode of a sample's own address, by the misc field of its header.
inline RawFrame::Mode mode_of(std::uint16_t misc) {
    switch (misc & perfdata::kMiscModeMask) {
        case perfdata::kMiscKernel: return RawFrame::kernel;
        case perfdata::kMiscUser: return RawFrame::user;
        default: return RawFrame::other;
    }
}

/// Passes the frames from the innermost outwards. Markers among the addresses set the mode of those after them. False:
/// a marker is none that perf knows, as the garbage at the end of a frame pointer chain may be; perf then discards the
/// chain (add_callchain_ip()), and so must the caller.
template <class Visit>
[[nodiscard]] bool for_each_frame(const perfdata::Numbers& chain, Visit&& visit) {
    constexpr std::uint64_t kLowestMarker = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_MAX");
    constexpr std::uint64_t kKernel = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_KERNEL");
    constexpr std::uint64_t kUser = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_USER");
    constexpr std::uint64_t kHypervisor = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_HV");
    constexpr std::uint64_t kDeferred = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_USER_DEFERRED");
    RawFrame::Mode mode = RawFrame::user;
    for (std::size_t i = 0; i < chain.size(); ++i) {
        const std::uint64_t address = chain[i];
        if (address < kLowestMarker)
            visit(RawFrame{address, mode});
        else if (address == kDeferred)
            return true;  // a cookie follows, no addresses
        else if (address == kKernel || address == kUser || address == kHypervisor)
            mode = address == kKernel ? RawFrame::kernel : address == kUser ? RawFrame::user : RawFrame::other;
        else
            return false;
    }
    return true;
}

}  // namespace anyperf::analysis
