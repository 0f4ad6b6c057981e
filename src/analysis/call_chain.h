// call_chain.h: the addresses of a PERF_SAMPLE_CALLCHAIN with the mode in which each is valid.
//
// A call chain is an array of words, from the innermost frame outwards. The kernel puts markers among the addresses:
// PERF_CONTEXT_KERNEL before its own frames, PERF_CONTEXT_USER before those of the program (perf_event_open(2),
// "PERF_SAMPLE_CALLCHAIN"). Markers are the highest numbers, from PERF_CONTEXT_MAX on, where no code is. The mode
// matters: the same number is another place in the kernel's address space than in a process's.
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

/// The mode of an address that comes without one, as those of branches: kernels have the upper half.
inline RawFrame::Mode mode_of_address(std::uint64_t address) {
    return address >> 63 != 0 ? RawFrame::kernel : RawFrame::user;
}

/// What a word of a chain is.
enum class ChainWord : std::uint8_t {
    frame,
    marker,   ///< the mode of the words after it
    end,      ///< PERF_CONTEXT_USER_DEFERRED: the user's part comes in a later record, and a cookie follows
    unknown,  ///< a marker that perf does not know
};

/// `mode` is that of the word, and changes at a marker.
inline ChainWord chain_word(std::uint64_t word, RawFrame::Mode& mode) {
    constexpr std::uint64_t kLowestMarker = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_MAX");
    constexpr std::uint64_t kKernel = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_KERNEL");
    constexpr std::uint64_t kUser = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_USER");
    constexpr std::uint64_t kHypervisor = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_HV");
    constexpr std::uint64_t kDeferred = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_USER_DEFERRED");
    if (word < kLowestMarker) return ChainWord::frame;
    if (word == kDeferred) return ChainWord::end;
    if (word != kKernel && word != kUser && word != kHypervisor) return ChainWord::unknown;
    mode = word == kKernel ? RawFrame::kernel : word == kUser ? RawFrame::user : RawFrame::other;
    return ChainWord::marker;
}

/// Passes the frames to `visit` from the innermost outwards. Markers among the addresses set the mode of those after
/// them; user mode is assumed before the first. Returns false at a marker that perf does not know: garbage at the end
/// of a frame pointer chain may look like one. perf then discards the whole chain (add_callchain_ip()), and the caller
/// must discard the frames that it got.
template <class Visit>
[[nodiscard]] bool for_each_frame(const perfdata::Numbers& chain, Visit&& visit) {
    RawFrame::Mode mode = RawFrame::user;
    for (std::size_t i = 0; i < chain.size(); ++i) {
        switch (chain_word(chain[i], mode)) {
            case ChainWord::frame: visit(RawFrame{chain[i], mode}); break;
            case ChainWord::marker: break;
            case ChainWord::end: return true;
            case ChainWord::unknown: return false;
        }
    }
    return true;
}

/// The same of a sample. Where the branches are a call stack (--call-graph lbr), they replace what the chain has after
/// the marker of user mode, as in perf (resolve_lbr_callchain_sample()): the function that was entered last, then the
/// calls.
template <class Visit>
[[nodiscard]] bool for_each_frame(const perfdata::Sample& sample, std::uint64_t branch_type, Visit&& visit) {
    constexpr std::uint64_t kCallStack = 1 << 11;  // PERF_SAMPLE_BRANCH_CALL_STACK
    constexpr std::size_t kWords = 3;              // of a branch: from, to, flags
    constexpr std::uint64_t kUser = abi::value_of(abi::kCallchainContexts, "PERF_CONTEXT_USER");
    bool has_user = false;
    for (std::size_t i = 0; i < sample.call_chain.size(); ++i) has_user |= sample.call_chain[i] == kUser;
    if ((branch_type & kCallStack) == 0 || sample.branches.size() < kWords || !has_user)
        return for_each_frame(sample.call_chain, visit);
    const bool valid = for_each_frame(sample.call_chain, [&](RawFrame frame) {
        if (frame.mode != RawFrame::user) visit(frame);
    });
    visit(RawFrame{sample.branches[1], RawFrame::user});
    for (std::size_t i = 0; i + kWords <= sample.branches.size(); i += kWords)
        visit(RawFrame{sample.branches[i], RawFrame::user});
    return valid;
}

}  // namespace anyperf::analysis
