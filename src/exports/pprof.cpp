// pprof.cpp: perftools.profiles.Profile (github.com/google/pprof, proto/profile.proto), compressed by gzip. Each event
// has two values: its samples and their weight. Ids begin at 1, since 0 means "none". The string table comes last:
// texts get their numbers while the rest is written.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "exports/exporter.h"
#include "exports/frame_names.h"
#include "exports/gzip.h"
#include "exports/protobuf.h"
#include "exports/string_table.h"

namespace anyperf::exports {

namespace {

// Field numbers of profile.proto.
enum ProfileField : std::uint32_t {
    kSampleType = 1,
    kSample = 2,
    kMapping = 3,
    kLocation = 4,
    kFunction = 5,
    kStringTable = 6,
    kTimeNanos = 9,
    kDurationNanos = 10,
    kPeriodType = 11,
    kPeriod = 12,
    kComment = 13,
    kDefaultSampleType = 14,
};

// Writes the message from its fields' numbers, without generated code. A field that is 0 or empty is left out, as
// proto3 does. Addresses are those of the symbol table of each file, so a mapping begins at 0.
class PprofWriter {
  public:
    PprofWriter(const profile::Profile& profile, const ExportOptions& options) : profile_(profile), options_(options) {}

    std::string write() {
        write_types();
        for (const profile::Sample& sample : profile_.samples) write_sample(sample);
        write_mappings();
        write_locations();
        write_functions();
        write_facts();
        for (const std::string& text : strings_.texts()) message_.element(kStringTable, text);
        return gzip(message_.bytes());
    }

  private:
    Message value_type(std::string_view type, std::string_view unit) {
        Message made;
        made.number(1, strings_.at(type));
        made.number(2, strings_.at(unit));
        return made;
    }

    /// The columns of a sample's values: for each event the number of samples with the unit "count", then their weight.
    /// By convention of profile.proto the count comes first. Clients take the last column as the default if none is
    /// named (default_sample_type), which would be that of the last event: so the first event's weight is named.
    void write_types() {
        for (const profile::EventId id : options_.events) {
            const profile::Event& event = profile_.events[id];
            const bool only = options_.events.size() == 1;
            message_.element(kSampleType, value_type(only ? "samples" : event.name + " samples", "count"));
            message_.element(kSampleType, value_type(event.name, unit_of(event)));
        }
        const profile::Event& first = profile_.events[options_.events.front()];
        message_.number(kDefaultSampleType, strings_.at(first.name));
        message_.element(kPeriodType, value_type(first.name, unit_of(first)));
        message_.number(kPeriod, first.period);
    }

    /// A sample of pprof has a value for each sample type: those of its own event, and 0 for all others.
    void write_sample(const profile::Sample& sample) {
        const profile::Context& context = profile_.contexts[sample.context];
        const auto event = std::ranges::find(options_.events, context.event);
        if (event == options_.events.end()) return;
        std::vector<std::uint64_t> locations;
        for (profile::StackId at = sample.stack; at != profile::kNone<profile::StackId>;
             at = profile_.stacks[at].caller)
            locations.push_back(profile_.stacks[at].location.value + 1);
        std::vector<std::uint64_t> values(options_.events.size() * 2);
        const auto column = static_cast<std::size_t>(event - options_.events.begin()) * 2;
        values[column] = sample.count;
        values[column + 1] = sample.weight;
        Message made;
        made.packed(1, locations);
        made.packed(2, values);
        add_label(made, "comm", strings_.at(profile_.text(context.comm)), 0);
        if (context.pid != profile::Context::kAny) add_label(made, "pid", 0, context.pid);
        if (context.tid != profile::Context::kAny) add_label(made, "tid", 0, context.tid);
        message_.element(kSample, made);
    }

    /// A label of a sample. It has a text or a number; the other one is 0 and so left out.
    void add_label(Message& sample, std::string_view key, std::uint64_t text, std::uint64_t number) {
        Message label;
        label.number(1, strings_.at(key));
        label.number(2, text);
        label.number(3, number);
        sample.element(3, label);
    }

    /// The file that is the program: of the dsos that have the name of their samples' command the heaviest, or else the
    /// heaviest file. A command is the begin of the program's name.
    std::uint32_t program() const {
        std::vector<std::pair<bool, std::uint64_t>> weights(profile_.dsos.size());  // is it the command; weight
        for (const profile::Sample& sample : profile_.samples) {
            const profile::DsoId leaf = profile_.locations[profile_.stacks[sample.stack].location].dso;
            const std::string_view path = profile_.text(profile_.dsos[leaf].path);
            const std::string_view command = profile_.text(profile_.contexts[sample.context].comm);
            const bool is_file = path.starts_with('/');
            weights[leaf.value].first |=
                is_file && !command.empty() && path.substr(path.rfind('/') + 1).starts_with(command);
            weights[leaf.value].second += is_file ? sample.weight : 0;
        }
        return static_cast<std::uint32_t>(std::ranges::max_element(weights) - weights.begin());
    }

    /// A mapping for each dso, that of the program first: pprof takes it for the file of the whole profile. Locations
    /// have addresses of symbol tables, so a mapping begins at 0 (memory_start is left out) and ends with the page of
    /// its highest location: profile.proto wants each address within its mapping.
    ///
    /// Four flags say what need not be looked up again: has_functions (7), which is always set, and has_filenames,
    /// has_line_numbers and has_inline_frames (8 to 10), which are set if a frame of the dso has a line.
    void write_mappings() {
        std::vector<std::uint64_t> ends(profile_.dsos.size());
        std::vector<bool> has_lines(profile_.dsos.size());
        for (const profile::Location& location : profile_.locations) {
            ends[location.dso.value] = std::max(ends[location.dso.value], location.address | 0xfff);
            for (const profile::Frame& frame : profile_.frames(location))
                if (frame.line != 0) has_lines[location.dso.value] = true;
        }
        std::vector<std::uint32_t> order(profile_.dsos.size());
        std::iota(order.begin(), order.end(), 0u);
        if (const std::uint32_t first = program(); first < order.size())
            std::rotate(order.begin(), order.begin() + first, order.begin() + first + 1);
        for (const std::uint32_t i : order) {
            const profile::Dso& dso = profile_.dsos[{i}];
            Message made;
            made.number(1, i + 1);
            made.number(3, ends[i]);
            made.number(5, strings_.at(profile_.text(dso.path)));
            made.number(6, strings_.at(profile_.text(dso.build_id)));
            made.number(7, 1);  // has_functions: do not look the names up again
            for (const std::uint32_t field : {8u, 9u, 10u}) made.number(field, has_lines[i] ? 1 : 0);
            message_.element(kMapping, made);
        }
    }

    // The lines of a location are the functions that are active there, from the innermost inlined one outwards
    // (profile.proto, Location.line).
    void write_locations() {
        std::uint64_t id = 0;
        for (const profile::Location& location : profile_.locations) {
            Message made;
            made.number(1, ++id);
            made.number(2, location.dso.value + 1);
            made.number(3, location.address);
            for (const profile::Frame& frame : profile_.frames(location)) {  // the innermost first
                Message line;
                line.number(1, frame.function.value + 1);
                line.number(2, frame.line);
                made.element(4, line);
            }
            message_.element(kLocation, made);
        }
    }

    // A function has two names: `name` is for people (here the demangled one), `system_name` is that of the symbol
    // table.
    void write_functions() {
        std::uint64_t id = 0;
        for (const profile::Function& function : profile_.functions) {
            Message made;
            made.number(1, ++id);
            made.number(2, strings_.at(profile_.text(function.name)));
            made.number(3, strings_.at(profile_.text(function.linkage_name)));
            made.number(4, strings_.at(profile_.text(function.file)));
            made.number(5, function.line);
            message_.element(kFunction, made);
        }
    }

    /// When and where the recording was made. What has no field becomes a comment, which `pprof -comments` shows.
    void write_facts() {
        const profile::Recording& recording = profile_.recording;
        message_.number(kTimeNanos, wall_clock_of_start(recording));
        message_.number(kDurationNanos, recording.last_ns - recording.first_ns);
        std::vector<std::uint64_t> comments;
        for (const auto& [name, text] : {std::pair{"recorded by", &recording.command_line},
                                         std::pair{"host", &recording.host}, std::pair{"cpu", &recording.cpu}})
            if (!text->empty()) comments.push_back(strings_.at(fmt::format("{}: {}", name, *text)));
        message_.packed(kComment, comments);
    }

    const profile::Profile& profile_;
    const ExportOptions& options_;
    StringTable strings_;
    Message message_;
};

}  // namespace

std::string write_pprof(const profile::Profile& profile, const ExportOptions& options) {
    return PprofWriter{profile, options}.write();
}

}  // namespace anyperf::exports
