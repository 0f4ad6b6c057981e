// json.cpp: the whole profile: functions, stacks as a tree (each with the number of its caller), and samples. Rows are
// lines, so that a difference between two files can be read. Numbers of rows are positions in the arrays. A caller has
// a lower number than its callees, so a reader can build the tree in one pass. "format" has a number, which changes if
// a member gets another meaning.
#include "exports/exporter.h"
#include "exports/frame_names.h"
#include "exports/json_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace anyperf::exports {

namespace {

/// Programs that read numbers as doubles would round the kernel's addresses.
std::string hexadecimal(std::uint64_t address) {
    return fmt::format("0x{:x}", address);
}

void write_recording(const profile::Recording& recording, JsonText& json) {
    json.key("recording").open('{');
    json.member("path", recording.path).member("command_line", recording.command_line);
    json.member("host", recording.host).member("release", recording.release).member("arch", recording.arch);
    json.member("cpu", recording.cpu).member("cpus_online", recording.cpus_online);
    json.member("first_ns", recording.first_ns).member("last_ns", recording.last_ns);
    json.member("start_unix_ns", wall_clock_of_start(recording));
    json.member("lost", recording.lost).member("skipped", recording.skipped).close('}').line();
}

/// Events, functions and stacks.
void write_tables(const profile::Profile& profile, const FrameNames& names, JsonText& json) {
    json.key("events").open('[');
    for (const profile::Event& event : profile.events)
        json.line().open('{').member("name", event.name).member("unit", unit_of(event)).close('}');
    json.close(']').line().key("functions").open('[');
    for (const NamedFunction& function : names.functions()) {
        json.line().open('{').member("name", function.name);
        json.member("dso", profile.text(profile.dsos[function.dso].path));
        json.member("build_id", profile.text(profile.dsos[function.dso].build_id));
        json.member("address", hexadecimal(function.address)).member("file", profile.text(function.file));
        json.member("line", function.line).member("kernel", function.kernel).close('}');
    }
    json.close(']').line().key("stacks").open('[');
    for (const profile::Stack& stack : profile.stacks) {
        json.line().open('{').key("caller");
        stack.caller == profile::kNone<profile::StackId> ? json.null() : json.value(stack.caller.value);
        json.member("address", hexadecimal(profile.locations[stack.location].address)).key("frames").open('[');
        for (const NamedFrame& frame : names.frames(stack.location))
            json.open('{').member("function", frame.function).member("line", frame.line).close('}');
        json.close(']').close('}');
    }
    json.close(']').line();
}

// A pid or tid that the recording does not have is null, not -1.
void write_number_or_null(std::string_view name, std::uint32_t number, JsonText& json) {
    json.key(name);
    number == profile::Context::kAny ? json.null() : json.value(static_cast<std::int32_t>(number));
}

}  // namespace

std::string write_json(const profile::Profile& profile, const ExportOptions& options) {
    const FrameNames names{profile};
    JsonText json;
    json.open('{').member("format", "anyperf profile 1");
    write_recording(profile.recording, json);
    write_tables(profile, names, json);
    json.key("samples").open('[');
    for (const profile::Sample& sample : profile.samples) {
        const profile::Context& context = profile.contexts[sample.context];
        if (std::ranges::find(options.events, context.event) == options.events.end()) continue;
        json.line().open('{').member("event", context.event.value).member("comm", profile.text(context.comm));
        write_number_or_null("pid", context.pid, json);
        write_number_or_null("tid", context.tid, json);
        json.member("stack", sample.stack.value).member("count", sample.count).member("weight", sample.weight);
        json.close('}');
    }
    json.close(']').close('}').line();
    return json.take();
}

}  // namespace anyperf::exports
