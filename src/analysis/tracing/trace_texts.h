// trace_texts.h: the texts of tracepoints' samples while a recording is read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/processes.h"
#include "perfdata/reader.h"
#include "perfdata/tracing/tracepoints.h"
#include "symbols/dso.h"

namespace anyperf::analysis {

class TraceTexts {
  public:
    /// The arguments must outlive it. Kernel addresses are named by the kernel's maps of that moment.
    TraceTexts(const perfdata::Reader& reader, const Processes& processes, symbols::Dsos& dsos)
        : reader_(reader), processes_(processes), dsos_(dsos) {}

    /// Appends what perf calls the trace of a sample: what the tracepoint says. Nothing for samples of other events, or
    /// if the recording lacks the tracepoint's format.
    void append(const perfdata::Sample& sample, std::size_t event, std::string& text);

    /// Appends the values of fields (ReadOptions::trace_fields), each with profile::kFieldEnd after it. A value is
    /// empty if the sample's event does not have the field.
    void append_fields(const perfdata::Sample& sample, std::size_t event, const std::vector<std::string>& fields,
                       std::string& text);

    /// Whether all events of the recording are tracepoints. Events of a pipe become known while it is read.
    bool only_tracepoints() const;

  private:
    perfdata::Tracepoints& tracepoints();
    std::optional<perfdata::KernelPlace> find(std::uint64_t address);

    const perfdata::Reader& reader_;
    const Processes& processes_;
    symbols::Dsos& dsos_;
    std::optional<perfdata::Tracepoints> tracepoints_;  // from the first sample on
    std::string whole_;                                 // what the tracepoint says
};

}  // namespace anyperf::analysis
