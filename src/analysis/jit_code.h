// jit_code.h: the code of JIT compilers at the time of a sample. A JIT uses the same memory for one function after the
// other, and only its jit-PID.dump says when (symbols/jit/jit_dump.h). Names are looked up after the last record
// (processes.h), so an address alone would not do.
//
// The mechanism: addresses of such code become addresses that only this file knows, before anything else looks at the
// sample: kFirstJitAddress and the offset of the code in the dump. At kFirstJitAddress the dump is mapped as any file,
// so all that follows finds the dump as the dso of such an address, and the function by its offset.
//
// The dump's times are those of CLOCK_MONOTONIC. In a recording by another clock (without -k monotonic) the last code
// at an address counts, as in a perf map.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analysis/processes.h"
#include "perfdata/reader.h"
#include "symbols/dso.h"

namespace anyperf::analysis {

/// Follows the dumps of all processes. The arguments must outlive it.
class JitCodes {
  public:
    JitCodes(const perfdata::Reader& reader, Processes& processes, symbols::Dsos& dsos)
        : reader_(reader), processes_(processes), dsos_(dsos) {}

    /// To be called with each record, after Processes::follow().
    void follow(const perfdata::Record& record);

    /// The sample with the addresses of such code replaced: its own, those of its call chain and of its branches. Valid
    /// until the next call. Samples must come in the order of time.
    const perfdata::Sample& replaced(const perfdata::Sample& sample) {
        dump_ = nullptr;
        return dumps_.empty() ? sample : replaced_in(sample);
    }
    /// The same of one address of the last sample.
    std::uint64_t replaced(std::uint64_t address) const;

  private:
    /// One dump at a moment of the recording.
    struct Dump {
        struct Code {
            std::uint64_t end = 0, file_offset = 0;
        };
        std::vector<symbols::JitCode> coming;  // in the order of time
        std::size_t next = 0;
        std::map<std::uint64_t, Code> there;  // by start; none overlaps another

        void advance(std::uint64_t time);
        void put(const symbols::JitCode& code);
    };

    const perfdata::Sample& replaced_in(const perfdata::Sample& sample);
    void follow_map(perfdata::Bytes record);
    bool has_times() const;
    perfdata::Numbers replaced(const perfdata::Numbers& addresses, std::vector<std::uint64_t>& kept) const;

    const perfdata::Reader& reader_;
    Processes& processes_;
    symbols::Dsos& dsos_;
    std::unordered_map<std::uint32_t, std::shared_ptr<Dump>> dumps_;  // by pid; a child has that of its parent
    const Dump* dump_ = nullptr;                                      // of the last sample; null: it has none
    const symbols::AddressSpace* maps_ = nullptr;                     // of the last sample
    perfdata::Sample sample_;
    std::vector<std::uint64_t> call_chain_, branches_;  // of sample_
};

}  // namespace anyperf::analysis
