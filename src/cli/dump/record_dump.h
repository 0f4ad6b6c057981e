// record_dump.h: `report -D` and `script -D`: each record of a recording byte by byte, then what its fields mean, in
// the form of perf 6.1 (dump_event() and dump_sample() in tools/perf/util/session.c).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/processes.h"
#include "cli/output/output.h"
#include "perfdata/reader.h"
#include "profile/strings.h"
#include "symbols/dso.h"

namespace anyperf::cli {

/// Prints the records, and gives each to `then`, if there is one, after it was printed. Samples that one record has of
/// several events follow it without its bytes.
class RecordDump final : public perfdata::Consumer {
  public:
    /// `name` is the recording's. All arguments must outlive it.
    RecordDump(const perfdata::Reader& reader, const std::string& name, const symbols::SymbolPaths& paths, Output& out,
               perfdata::Consumer* then);

    bool needs_places() const override { return true; }
    void place(const perfdata::RecordPlace& place) override;
    void sample(const perfdata::Sample& sample, std::size_t event) override;
    void record(const perfdata::Record& record) override;
    void user_record(perfdata::RecordType type, perfdata::Bytes bytes, bool foreign) override;

  private:
    void add_head(std::uint32_t cpu, std::uint64_t time, bool has_time);
    void add_task(const perfdata::Sample& sample);

    const perfdata::Reader& reader_;
    const std::string& name_;
    Output& out_;
    perfdata::Consumer* then_;
    profile::Strings strings_;
    symbols::Dsos dsos_;
    analysis::Processes processes_;
    perfdata::RecordPlace place_;  // of the record that is next
    bool is_new_ = false;          // place_ was not printed yet
    std::string text_;
};

}  // namespace anyperf::cli
