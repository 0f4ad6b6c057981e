// exporter.h: the formats in which profiles are handed on to other programs. A format is one file, and one row of
// kFormats.
//
// A writer gets a finished profile, whose texts are valid UTF-8 (profile/valid_text.h), and returns the whole file as
// bytes, or the rest of it after what ExportOptions::take_part got. It prints nothing and cannot fail: whatever the
// profile has, the format has a place for it or leaves it out, and what its syntax reserves is escaped or replaced. The
// row of kFormats says what the format can carry. The reader of the recording keeps only that: a format without times
// or threads gets a profile with fewer and larger rows.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace anyperf::exports {

/// What to write. Views and pointers must live as long as the call.
struct ExportOptions {
    std::vector<profile::EventId> events{};  ///< whose samples are written, at least one; formats of one event use the
                                             ///< first
    const profile::Profile* baseline = nullptr;         ///< to compare with; may be null
    profile::EventId baseline_event{};                  ///< of `baseline`: the event to compare with
    std::function<void(std::string_view)> take_part{};  ///< gets what is written already of a long file; may be empty
    std::string_view version{};                         ///< anyperf's own, for formats that name their writer
};

struct Format {
    std::string_view name;     ///< of the option --format
    std::string_view summary;  ///< for the help: which programs read it, and of which version it is
    bool threads = false;      ///< it has the process and the thread of each sample
    bool times = false;        ///< it has the time of each sample
    bool one_event = false;    ///< it has no room for several events
    bool baseline = false;     ///< it can show the difference to another profile
    bool binary = false;       ///< it is no text, so not for a terminal
    std::string (*write)(const profile::Profile&, const ExportOptions&) = nullptr;
};

/// All formats, in the order of the help.
std::span<const Format> formats();

/// The format with this name, or null.
const Format* format_named(std::string_view name);

// The writers. Each has its file, which names the format's specification.
std::string write_html(const profile::Profile& profile, const ExportOptions& options);
std::string write_folded(const profile::Profile& profile, const ExportOptions& options);
std::string write_speedscope(const profile::Profile& profile, const ExportOptions& options);
std::string write_pprof(const profile::Profile& profile, const ExportOptions& options);
std::string write_otlp(const profile::Profile& profile, const ExportOptions& options);
std::string write_firefox(const profile::Profile& profile, const ExportOptions& options);
std::string write_chrome(const profile::Profile& profile, const ExportOptions& options);
std::string write_callgrind(const profile::Profile& profile, const ExportOptions& options);
std::string write_csv(const profile::Profile& profile, const ExportOptions& options);
std::string write_json(const profile::Profile& profile, const ExportOptions& options);

}  // namespace anyperf::exports
