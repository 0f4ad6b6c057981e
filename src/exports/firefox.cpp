// firefox.cpp: the processed profile format of profiler.firefox.com, version 57 (docs-developer/CHANGELOG-formats.md
// there). The site upgrades older versions when it loads them, and 57 is the last one before sources became a table.
// Times are in milliseconds.
//
// The format is a set of tables in columns that refer to each other by row: samples to stacks, stacks to their prefixes
// and frames, frames to functions, functions to resources, resources to libraries. Tables are of one thread each,
// strings of all. A frame with inlined functions is several rows of the stack table, with growing `inlineDepth`.
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <functional>
#include <unordered_map>

#include "exports/exporter.h"
#include "exports/frame_names.h"
#include "exports/json_text.h"
#include "exports/threads.h"

namespace anyperf::exports {

namespace {

constexpr std::uint64_t kNsOfMillisecond = 1'000'000;
constexpr int kVersion = 57;
constexpr int kGeckoVersion = 24;  // meta.version: of the unprocessed format; no Firefox wrote this profile
constexpr int kLibraryResource = 1;
constexpr std::uint64_t kLargestAddress = (std::uint64_t{1} << 53) - 1;  // JavaScript's largest exact integer

// Indices into meta.categories. Stacks without a category need a grey one.
enum Category : int { kOther, kUser, kKernel };
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kCategories{
    {{"Other", "grey"}, {"User", "yellow"}, {"Kernel", "orange"}}};

/// The id by which symbol servers know a file: the first 16 bytes of the build id as a GUID, and an age of 0. Breakpad
/// writes the first three fields of a GUID as numbers, so their bytes come in reverse order; a short build id is filled
/// up with zeros.
std::string breakpad_id(std::string_view build_id) {
    constexpr std::array<std::size_t, 16> kOrder{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    if (build_id.empty()) return {};
    std::string bytes{build_id};
    bytes.resize(32, '0');
    std::string id;
    for (const std::size_t i : kOrder)
        for (const char digit : std::string_view{bytes}.substr(2 * i, 2))
            id += static_cast<char>(std::toupper(static_cast<unsigned char>(digit)));
    return id + '0';
}

/// Texts by number, shared by all threads.
class SharedStrings {
  public:
    std::size_t at(std::string_view text) {
        const auto [place, fresh] = numbers_.try_emplace(std::string{text}, texts_.size());
        if (fresh) texts_.push_back(place->first);
        return place->second;
    }
    /// In the order of their numbers. Complete only after all threads are written.
    const std::vector<std::string>& texts() const { return texts_; }

  private:
    std::unordered_map<std::string, std::size_t> numbers_;
    std::vector<std::string> texts_;
};

/// The tables of one thread. They have only what its samples use, since the site shows threads one by one. Rows are
/// added when a sample first needs them, and written as columns at the end.
class ThreadTables {
  public:
    ThreadTables(const profile::Profile& profile, const FrameNames& names, SharedStrings& strings)
        : profile_(profile), names_(names), strings_(strings) {}

    /// The row of a stack's innermost frame. A caller gets its rows before its callee, because a row names its prefix
    /// by number. frames() gives the outermost function of a location first, which is the order in which the rows must
    /// follow each other.
    std::size_t stack(profile::StackId id) {
        if (const auto known = stacks_.find(id.value); known != stacks_.end()) return known->second;
        const profile::Stack& each = profile_.stacks[id];
        std::optional<std::size_t> row;
        // The recursion is as deep as the recorded stack.
        if (each.caller != profile::kNone<profile::StackId>) row = stack(each.caller);
        std::size_t depth = 0;
        for (const NamedFrame& frame : names_.frames(each.location)) {
            stack_rows_.push_back({row, frame_rows_.size()});
            frame_rows_.push_back({each.location, frame, function(frame.function), depth++});
            row = stack_rows_.size() - 1;
        }
        return stacks_[id.value] = *row;
    }

    void write(JsonText& json) {
        write_stacks(json);
        write_frames(json);
        write_functions(json);
        write_resources(json);
        json.key("nativeSymbols").open('{').member("length", 0);
        for (const char* column : {"libIndex", "address", "name", "functionSize"}) json.key(column).raw("[]");
        json.close('}');
    }

  private:
    struct StackRow {
        std::optional<std::size_t> prefix;
        std::size_t frame;
    };
    struct FrameRow {
        profile::LocationId location;
        NamedFrame frame;
        std::size_t function;
        std::size_t inline_depth;
    };

    /// Writes one column of a table: an array with a value for each row.
    template <class Rows, class Write>
    static void column(JsonText& json, std::string_view name, const Rows& rows, Write&& write) {
        json.key(name).open('[');
        for (const auto& row : rows) write(row);
        json.close(']');
    }
    /// -1 means no address. It is written for addresses that JavaScript cannot hold exactly: those of the kernel.
    static void write_address(JsonText& json, std::uint64_t address) {
        address > kLargestAddress ? json.value(-1) : json.value(address);
    }
    static void line_or_null(JsonText& json, std::uint32_t line) { line == 0 ? json.null() : json.value(line); }

    /// The row of a function, added with the resource of its dso if it is new.
    std::size_t function(std::uint32_t id) {
        const auto [at, fresh] = functions_.try_emplace(id, function_rows_.size());
        if (!fresh) return at->second;
        function_rows_.push_back(id);
        const std::uint32_t dso = names_.functions()[id].dso.value;
        if (resources_.try_emplace(dso, resource_rows_.size()).second) resource_rows_.push_back(dso);
        return at->second;
    }

    void write_stacks(JsonText& json) const {
        json.line().key("stackTable").open('{').member("length", stack_rows_.size());
        column(json, "prefix", stack_rows_,
               [&](const StackRow& row) { row.prefix ? json.value(*row.prefix) : json.null(); });
        column(json, "frame", stack_rows_, [&](const StackRow& row) { json.value(row.frame); });
        json.close('}');
    }

    void write_frames(JsonText& json) const {
        json.line().key("frameTable").open('{').member("length", frame_rows_.size());
        column(json, "address", frame_rows_,
               [&](const FrameRow& row) { write_address(json, profile_.locations[row.location].address); });
        column(json, "inlineDepth", frame_rows_, [&](const FrameRow& row) { json.value(row.inline_depth); });
        column(json, "category", frame_rows_, [&](const FrameRow& row) {
            json.value(static_cast<int>(profile_.locations[row.location].kernel ? kKernel : kUser));
        });
        column(json, "subcategory", frame_rows_, [&](const FrameRow&) { json.value(0); });
        column(json, "func", frame_rows_, [&](const FrameRow& row) { json.value(row.function); });
        column(json, "line", frame_rows_, [&](const FrameRow& row) { line_or_null(json, row.frame.line); });
        for (const char* name : {"nativeSymbol", "innerWindowID", "column"})
            column(json, name, frame_rows_, [&](const FrameRow&) { json.null(); });
        json.close('}');
    }

    void write_functions(JsonText& json) {
        json.line().key("funcTable").open('{').member("length", function_rows_.size());
        const auto all = [&](std::string_view name, auto&& write) {
            column(json, name, function_rows_, [&](std::uint32_t id) { write(names_.functions()[id]); });
        };
        all("name", [&](const NamedFunction& row) { json.value(strings_.at(row.name)); });
        all("isJS", [&](const NamedFunction&) { json.value(false); });
        all("relevantForJS", [&](const NamedFunction&) { json.value(false); });
        all("resource", [&](const NamedFunction& row) { json.value(resources_.at(row.dso.value)); });
        all("fileName", [&](const NamedFunction& row) {
            row.file.value == 0 ? json.null() : json.value(strings_.at(profile_.text(row.file)));
        });
        all("lineNumber", [&](const NamedFunction& row) { line_or_null(json, row.line); });
        all("columnNumber", [&](const NamedFunction&) { json.null(); });
        json.close('}');
    }

    // A resource is what the site groups functions by: here the dso, as a library of the profile.
    void write_resources(JsonText& json) const {
        json.line().key("resourceTable").open('{').member("length", resource_rows_.size());
        column(json, "lib", resource_rows_, [&](std::uint32_t dso) { json.value(dso); });
        column(json, "name", resource_rows_,
               [&](std::uint32_t dso) { json.value(strings_.at(profile_.text(profile_.dsos[{dso}].name))); });
        column(json, "host", resource_rows_, [&](std::uint32_t) { json.null(); });
        column(json, "type", resource_rows_, [&](std::uint32_t) { json.value(kLibraryResource); });
        json.close('}');
    }

    const profile::Profile& profile_;
    const FrameNames& names_;
    SharedStrings& strings_;
    std::unordered_map<std::uint32_t, std::size_t> stacks_, functions_, resources_;
    std::vector<StackRow> stack_rows_;
    std::vector<FrameRow> frame_rows_;
    std::vector<std::uint32_t> function_rows_, resource_rows_;
};

/// What the site shows about the recording. The interval is that of a sampling frequency. A fixed period has none, so 1
/// ms is written.
void write_meta(const profile::Profile& profile, const ExportOptions& options, JsonText& json) {
    const profile::Event& event = profile.events[options.events.front()];
    json.key("meta").open('{').member("version", kGeckoVersion).member("preprocessedProfileVersion", kVersion);
    json.key("interval");
    event.frequency == 0 ? json.value(1) : json.time(1'000'000'000 / event.frequency, kNsOfMillisecond);
    json.key("startTime").time(wall_clock_of_start(profile.recording), kNsOfMillisecond);
    json.member("processType", 0).member("stackwalk", 1).member("debug", false);
    const profile::Recording& recording = profile.recording;
    json.member("product", recording.command_line.empty() ? recording.path : recording.command_line);
    json.member("importedFrom", fmt::format("anyperf {}", options.version));
    json.member("oscpu", fmt::format("Linux {} {}", recording.release, recording.arch));
    json.member("CPUName", recording.cpu).member("logicalCPUs", recording.cpus_online);
    json.member("symbolicated", true).member("usesOnlyOneStackType", true).member("sourceCodeIsNotOnSearchfox", true);
    json.key("markerSchema").raw("[]").key("categories").open('[');
    for (const auto& [name, colour] : kCategories) {
        json.open('{').member("name", name).member("color", colour);
        json.key("subcategories").open('[').value("Other").close(']').close('}');
    }
    json.close(']').key("extensions").raw(R"({"length":0,"id":[],"name":[],"baseURL":[]})").close('}').line();
}

/// All dsos, with the ids by which the site's symbol servers would find them.
void write_libraries(const profile::Profile& profile, JsonText& json) {
    json.key("libs").open('[');
    for (const profile::Dso& dso : profile.dsos) {
        const std::string_view name = profile.text(dso.name), path = profile.text(dso.path);
        json.line().open('{').member("arch", profile.recording.arch);
        json.member("name", name).member("path", path).member("debugName", name).member("debugPath", path);
        json.member("breakpadId", breakpad_id(profile.text(dso.build_id))).key("codeId");
        dso.build_id.value == 0 ? json.null() : json.value(profile.text(dso.build_id));
        json.close('}');
    }
    json.close(']').line();
}

/// Times of samples with their rows of the stack table. Times count from the first sample of the recording. The weight
/// of an event in nanoseconds is shown as a time.
void write_samples(const profile::Profile& profile, const ThreadSamples& thread, ThreadTables& tables, JsonText& json) {
    const bool time = unit_of(profile.events[thread.event]) == "nanoseconds";
    const auto column = [&](std::string_view name, const std::function<void(const profile::Sample&)>& write) {
        json.key(name).open('[');
        for (const std::uint32_t i : thread.samples) write(profile.samples[i]);
        json.close(']');
    };
    json.line().key("samples").open('{').member("length", thread.samples.size());
    json.member("weightType", time ? "tracing-ms" : "samples");
    column("stack", [&](const profile::Sample& sample) { json.value(tables.stack(sample.stack)); });
    column("time", [&](const profile::Sample& sample) {
        json.time(sample.time - profile.recording.first_ns, kNsOfMillisecond);
    });
    column("weight", [&](const profile::Sample& sample) {
        time ? json.time(sample.weight, kNsOfMillisecond) : json.value(sample.weight);
    });
    json.close('}');
}

/// A thread, for one event. With several events a thread is written once for each, since a thread has one list of
/// samples. The thread's name then includes the event's.
void write_thread(const profile::Profile& profile, const FrameNames& names, const ThreadSamples& thread, bool only,
                  SharedStrings& strings, JsonText& json) {
    const std::string_view comm = profile.text(thread.comm);
    const std::string name = only ? std::string{comm} : fmt::format("{}: {}", comm, profile.events[thread.event].name);
    json.line().open('{').member("name", name).member("processName", comm).member("processType", "default");
    json.member("isMainThread", thread.pid == thread.tid);
    json.member("pid", std::to_string(static_cast<std::int32_t>(thread.pid)));
    json.member("tid", static_cast<std::int32_t>(thread.tid));
    for (const char* start : {"processStartupTime", "registerTime"}) json.member(start, 0);
    for (const char* end : {"processShutdownTime", "unregisterTime"}) json.key(end).null();
    json.key("pausedRanges").raw("[]").key("markers").open('{').member("length", 0);
    for (const char* column : {"category", "data", "endTime", "name", "phase", "startTime"}) json.key(column).raw("[]");
    json.close('}');
    ThreadTables tables{profile, names, strings};
    write_samples(profile, thread, tables, json);
    tables.write(json);
    json.close('}');
}

}  // namespace

std::string write_firefox(const profile::Profile& profile, const ExportOptions& options) {
    const FrameNames names{profile};
    SharedStrings strings;
    JsonText json;
    json.open('{');
    write_meta(profile, options, json);
    write_libraries(profile, json);
    json.key("pages").raw("[]").key("counters").raw("[]").key("threads").open('[');
    for (const ThreadSamples& thread : samples_by_thread(profile, options))
        write_thread(profile, names, thread, options.events.size() == 1, strings, json);
    json.close(']').line().key("shared").open('{').key("stringArray").open('[');
    for (const std::string& text : strings.texts()) json.value(text);
    json.close(']').close('}').close('}').line();
    return json.take();
}

}  // namespace anyperf::exports
