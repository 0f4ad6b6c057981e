// unwound_samples.h: replaces the registers and the copied stack of a sample by its callers, while it is recorded
// (--call-graph dwarf). A copied stack has up to 64 KiB, its callers have some hundred bytes. It takes about a
// microsecond to find them, less than to write the stack anywhere: only the cache lines with return addresses are read.
//
// The result looks like a sample whose callers the kernel found by frame pointers: the addresses follow the marker
// PERF_CONTEXT_USER in its call chain, and every reader knows that form. Callers are return addresses minus 1, as
// readers of copied stacks show them.
//
// The maps are followed by the code that readers of a recording use, and the unwinder is theirs. So the callers are
// those that `script` finds in copied stacks. One thing is better here: a file is opened when it is mapped and stays
// open, so it may be removed or replaced before the recording ends.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/processes.h"
#include "perfdata/event_table.h"
#include "perfdata/side_band.h"
#include "profile/strings.h"
#include "symbols/dso.h"
#include "symbols/stack_unwinder.h"
#include "unwind/unwinder.h"

namespace anyperf::recording {

using perfdata::Bytes;

/// Whether samples of the event have copied stacks.
bool copies_stacks(const abi::Attr& attr);

/// The attr that describes the samples of `attr` after they are unwound.
abi::Attr unwound(abi::Attr attr);

/// Used by one thread, which passes it the records in the order of time.
class UnwoundSamples {
  public:
    /// `events`: as they were opened, with their ids.
    explicit UnwoundSamples(const std::vector<perfdata::EventInfo>& events);

    /// Follows an MMAP, FORK or EXIT record; ignores other records.
    void follow(Bytes record);

    /// The sample with its callers instead of its stack, valid until the next call. If its event has no copied stacks,
    /// the sample as it is. Empty if the sample is damaged or of no known event.
    Bytes unwind(Bytes sample);

    /// Frees the maps of ended processes. Precondition: all their samples were passed to unwind().
    void end_round();

  private:
    void follow_map(Bytes record);
    void follow_fork(Bytes record, bool existed);
    void follow_exit(Bytes record);
    void open_file(const perfdata::MapRecord& map);
    void find_callers(const perfdata::Sample& sample, std::uint64_t register_mask);

    perfdata::EventTable events_;
    symbols::SymbolPaths paths_;
    profile::Strings strings_;
    symbols::Dsos dsos_;
    analysis::Processes processes_;
    unwind::Unwinder unwinder_;
    std::unordered_map<std::uint32_t, unsigned> threads_;  // of processes that began while recording, by pid
    std::unordered_map<std::string, std::vector<std::uint64_t>> files_;  // by path: identity_of() the file last opened
    std::vector<std::uint64_t> registers_, callers_;
    std::vector<std::byte> sample_;
};

}  // namespace anyperf::recording
