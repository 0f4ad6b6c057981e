// speedscope.cpp: speedscope's own file format (its file-format-schema.json). The samples of a thread with the same
// stack are one sample with the sum of their weights: users report that speedscope fails on files of some hundred MB.
#include <fmt/format.h>

#include "exports/exporter.h"
#include "exports/frame_names.h"
#include "exports/json_text.h"
#include "exports/threads.h"

namespace anyperf::exports {

namespace {

/// The shared frames: one for each function, in the order of FrameNames::functions(), which the stacks use as indices.
void write_frames(const profile::Profile& profile, const FrameNames& names, JsonText& json) {
    json.key("frames").open('[');
    for (const NamedFunction& function : names.functions()) {
        json.line().open('{').member("name", function.name);
        // A function without a source file has the name of its dso here.
        json.member("file", profile.text(function.file.value != 0 ? function.file : profile.dsos[function.dso].name));
        if (function.line != 0) json.member("line", function.line);
        json.close('}');
    }
    json.close(']');
}

/// A "sampled" profile: a stack of indices of frames for each sample, the outermost first, and its weight. The samples
/// have no times, so they are drawn one after the other, each as wide as its weight. An event in nanoseconds is shown
/// as time, any other as a plain number.
void write_thread(const profile::Profile& profile, const FrameNames& names, const ThreadSamples& thread,
                  JsonText& json) {
    const profile::Event& event = profile.events[thread.event];
    std::uint64_t sum = 0;
    for (const std::uint32_t i : thread.samples) sum += profile.samples[i].weight;
    json.line().open('{').member("type", "sampled");
    json.member("name", fmt::format("{} ({}/{}): {}", profile.text(thread.comm), static_cast<std::int32_t>(thread.pid),
                                    static_cast<std::int32_t>(thread.tid), event.name));
    json.member("unit", unit_of(event) == "nanoseconds" ? "nanoseconds" : "none");
    json.member("startValue", 0).member("endValue", sum).key("samples").open('[');
    for (const std::uint32_t i : thread.samples) {
        json.open('[');
        for (const profile::LocationId location : outermost_first(profile, profile.samples[i].stack))
            for (const NamedFrame& frame : names.frames(location)) json.value(frame.function);
        json.close(']');
    }
    json.close(']').key("weights").open('[');
    for (const std::uint32_t i : thread.samples) json.value(profile.samples[i].weight);
    json.close(']').close('}');
}

}  // namespace

std::string write_speedscope(const profile::Profile& profile, const ExportOptions& options) {
    const FrameNames names{profile};
    JsonText json;
    json.open('{').member("$schema", "https://www.speedscope.app/file-format-schema.json");
    json.member("name",
                profile.recording.command_line.empty() ? profile.recording.path : profile.recording.command_line);
    json.member("exporter", fmt::format("anyperf {}", options.version));
    json.key("shared").open('{');
    write_frames(profile, names, json);
    json.close('}').key("profiles").open('[');
    for (const ThreadSamples& thread : samples_by_thread(profile, options)) write_thread(profile, names, thread, json);
    json.close(']').close('}').line();
    return json.take();
}

}  // namespace anyperf::exports
