#include "cli/report/thread_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "abi/sample_bits.h"
#include "perfdata/cursor.h"
#include "try.h"

namespace anyperf::cli {

namespace {

struct Thread {
    std::uint32_t pid = 0, tid = 0;
    auto operator<=>(const Thread&) const = default;
};

/// Collects READ records. The kernel writes one for each event and CPU when a thread ends that a parent's event
/// measures (perf_event_read_event() in kernel/events/core.c).
class CountCollector final : public perfdata::Consumer {
  public:
    void sample(const perfdata::Sample&, std::size_t) override {}
    bool needs_few_fields() const override { return true; }
    void record(const perfdata::Record& record) override {
        if (record.type != perfdata::RecordType::read) return;
        perfdata::Cursor cursor{record.bytes.subspan(perfdata::kRecordHeader)};
        Thread thread;
        thread.pid = cursor.take<std::uint32_t>();
        thread.tid = cursor.take<std::uint32_t>();
        std::vector<std::uint64_t>& counts = counts_[thread];
        if (counts.size() <= record.event) counts.resize(record.event + 1);
        counts[record.event] += cursor.take<std::uint64_t>();
    }

    bool empty() const { return counts_.empty(); }

    std::string text(const std::vector<perfdata::EventInfo>& events) const {
        const auto widest = [&](std::size_t least, auto number_of) {
            for (const auto& [thread, counts] : counts_)
                least = std::max(least, fmt::formatted_size("{}", number_of(thread, counts)));
            return least;
        };
        const auto count_of = [](const std::vector<std::uint64_t>& counts, std::size_t event) {
            return event < counts.size() ? counts[event] : 0;
        };
        const std::size_t pid = widest(3, [](const Thread& thread, const auto&) { return thread.pid; });
        const std::size_t tid = widest(3, [](const Thread& thread, const auto&) { return thread.tid; });
        std::vector<std::size_t> widths;
        std::string text = fmt::format("# {:>{}}  {:>{}}", "PID", pid, "TID", tid);
        const auto out = std::back_inserter(text);
        for (std::size_t i = 0; i < events.size(); ++i) {
            widths.push_back(
                widest(events[i].name.size(), [&](const Thread&, const auto& counts) { return count_of(counts, i); }));
            fmt::format_to(out, "  {:>{}}", events[i].name, widths[i]);
        }
        text += '\n';
        for (const auto& [thread, counts] : counts_) {
            fmt::format_to(out, "  {:>{}}  {:>{}}", thread.pid, pid, thread.tid, tid);
            for (std::size_t i = 0; i < events.size(); ++i)
                fmt::format_to(out, "  {:>{}}", count_of(counts, i), widths[i]);
            text += '\n';
        }
        return text;
    }

  private:
    std::map<Thread, std::vector<std::uint64_t>> counts_;
};

}  // namespace

Result<void> print_thread_counts(perfdata::Reader& reader, Output& out) {
    CountCollector collector;
    reader.read(collector);
    if (collector.empty())
        out.note("anyperf: the recording has no counts of threads: record with -s\n");
    else
        out.print("\n" + collector.text(reader.events()));
    return {};
}

}  // namespace anyperf::cli
