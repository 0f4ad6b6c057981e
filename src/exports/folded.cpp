// folded.cpp: "comm;outermost;…;innermost WEIGHT", as stackcollapse-perf.pl makes it. The weights of equal lines are
// added up. The lines are sorted by their bytes, so that equal profiles give equal files.
#include <map>
#include <string>

#include "exports/exporter.h"
#include "exports/frame_names.h"

namespace anyperf::exports {

namespace {

/// Semicolons separate frames, and line ends separate stacks. So both are replaced in names.
void append_name(std::string& line, std::string_view name) {
    for (const char each : name) line += each == ';' ? ':' : each == '\n' || each == '\r' ? ' ' : each;
}

}  // namespace

// All lines are collected before any is written: samples of one stack may have come from several threads.
std::string write_folded(const profile::Profile& profile, const ExportOptions& options) {
    const FrameNames names{profile};
    std::map<std::string, std::uint64_t> lines;
    for (const profile::Sample& sample : profile.samples) {
        const profile::Context& context = profile.contexts[sample.context];
        if (context.event != options.events.front()) continue;
        std::string line;
        append_name(line, profile.text(context.comm));
        for (const profile::LocationId location : outermost_first(profile, sample.stack))
            for (const NamedFrame& frame : names.frames(location)) {
                line += ';';
                append_name(line, names.functions()[frame.function].name);
            }
        lines[line] += sample.weight;
    }
    std::string text;
    for (const auto& [line, weight] : lines) text += line + ' ' + std::to_string(weight) + '\n';
    return text;
}

}  // namespace anyperf::exports
