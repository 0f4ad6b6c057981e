// chrome.cpp: the Trace Event Format ("Trace Event Format", a document of the Chromium project): each call is a
// complete event ("X") with its start and duration, from the first of consecutive samples that have it to the end of
// the last. Metadata events ("M") name the threads. Times are in microseconds from the first record on, as decimal
// numbers with three digits, so that no nanosecond is lost. The viewer nests events of a thread by their times, so an
// inner call is written before the outer one that ends with it.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "exports/exporter.h"
#include "exports/frame_names.h"
#include "exports/json_text.h"
#include "exports/threads.h"

namespace anyperf::exports {

namespace {

constexpr std::uint64_t kNsOfMicrosecond = 1000;

/// The calls of one thread that are open while its samples are read in the order of time.
///
/// Samples are moments, and the format wants spans. A function that is at one depth in two samples in a row is drawn as
/// one call from the first to the second; it may have returned and been called again in between, which no sampling
/// profiler can see. A span ends at the first sample without the function. Before a gap it ends one usual interval
/// after its last sample.
class OpenCalls {
  public:
    OpenCalls(const profile::Profile& profile, const FrameNames& names, const ThreadSamples& thread, JsonText& json)
        : profile_(profile), names_(names), thread_(thread), json_(json) {}

    void write() {
        const std::uint64_t longest = 2 * usual_interval();
        for (std::size_t i = 0; i < thread_.samples.size(); ++i) {
            const profile::Sample& sample = profile_.samples[thread_.samples[i]];
            const std::uint64_t next = i + 1 < thread_.samples.size() ? profile_.samples[thread_.samples[i + 1]].time
                                                                      : sample.time + longest / 2;
            // After a longer time the thread has slept, or was not measured.
            const bool gap = next - sample.time > longest;
            enter(sample);
            end_ = gap ? sample.time + longest / 2 : next;
            if (gap) close_above(0);
        }
        close_above(0);
    }

  private:
    struct Call {
        std::uint32_t function;
        std::uint64_t start;
    };

    /// The median of the times between samples, in ns. 1 µs if there is one sample only.
    std::uint64_t usual_interval() const {
        std::vector<std::uint64_t> intervals;
        for (std::size_t i = 1; i < thread_.samples.size(); ++i) intervals.push_back(time(i) - time(i - 1));
        if (intervals.empty()) return kNsOfMicrosecond;
        const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
        std::ranges::nth_element(intervals, middle);
        return std::max<std::uint64_t>(*middle, 1);
    }
    std::uint64_t time(std::size_t i) const { return profile_.samples[thread_.samples[i]].time; }

    /// Closes the calls that the sample's stack does not continue, and opens those that are new.
    void enter(const profile::Sample& sample) {
        std::vector<std::uint32_t> functions;
        for (const profile::LocationId location : outermost_first(profile_, sample.stack))
            for (const NamedFrame& frame : names_.frames(location)) functions.push_back(frame.function);
        std::size_t same = 0;
        while (same < calls_.size() && same < functions.size() && calls_[same].function == functions[same]) ++same;
        close_above(same);
        for (std::size_t i = same; i < functions.size(); ++i) calls_.push_back({functions[i], sample.time});
    }

    void close_above(std::size_t depth) {
        for (; calls_.size() > depth; calls_.pop_back()) {
            const NamedFunction& function = names_.functions()[calls_.back().function];
            const std::uint64_t start = calls_.back().start;
            json_.line().open('{').member("ph", "X").member("name", function.name);
            json_.member("cat", profile_.text(profile_.dsos[function.dso].name));
            json_.member("pid", static_cast<std::int32_t>(thread_.pid));
            json_.member("tid", static_cast<std::int32_t>(thread_.tid));
            json_.key("ts").time(start - profile_.recording.first_ns, kNsOfMicrosecond);
            json_.key("dur").time(end_ - start, kNsOfMicrosecond).close('}');
        }
    }

    const profile::Profile& profile_;
    const FrameNames& names_;
    const ThreadSamples& thread_;
    JsonText& json_;
    std::vector<Call> calls_;  // the outermost first
    std::uint64_t end_ = 0;    // of the last sample
};

void write_name(std::string_view kind, const ThreadSamples& thread, std::string_view name, JsonText& json) {
    json.line().open('{').member("ph", "M").member("name", kind);
    json.member("pid", static_cast<std::int32_t>(thread.pid)).member("tid", static_cast<std::int32_t>(thread.tid));
    json.key("args").open('{').member("name", name).close('}').close('}');
}

}  // namespace

std::string write_chrome(const profile::Profile& profile, const ExportOptions& options) {
    const FrameNames names{profile};
    JsonText json{options.take_part};  // each call is a line: of a long recording gigabytes
    json.open('{').member("displayTimeUnit", "ns").key("traceEvents").open('[');
    for (const ThreadSamples& thread : samples_by_thread(profile, options)) {
        if (thread.event != options.events.front()) continue;
        if (thread.pid == thread.tid) write_name("process_name", thread, profile.text(thread.comm), json);
        write_name("thread_name", thread, profile.text(thread.comm), json);
        OpenCalls{profile, names, thread, json}.write();
    }
    json.close(']').key("otherData").open('{').member("event", profile.events[options.events.front()].name);
    json.member("recorded_by", profile.recording.command_line).close('}').close('}').line();
    return json.take();
}

}  // namespace anyperf::exports
