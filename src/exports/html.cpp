// html.cpp: one page with everything in it, so that it works as a file and without a network: the sources in page/, and
// the profile deflated in base64.
//
// The sources are part of the program (page_files.S), and page_data.h has the format of the profile. Base64 makes the
// data a third larger, but it has no letter that HTML or JavaScript would take for something else, whatever the names
// in the profile are.
#include <fmt/format.h>

#include <array>

#include "exports/exporter.h"
#include "exports/gzip.h"
#include "exports/page_data.h"

// The labels of page_files.S.
extern "C" {
extern const char anyperf_page_html[], anyperf_page_css[], anyperf_page_scripts[], anyperf_page_end[];
}

namespace anyperf::exports {

namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size() / 3 * 4 + 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k)
            group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63];
    }
    return text;
}

/// Replaces the first `mark`, which the template must have. The page's own sources come before the data, so that no
/// mark is looked for in a user's text.
void replace(std::string& text, std::string_view mark, std::string_view content) {
    text.replace(text.find(mark), mark.size(), content);
}

void add_facts(const profile::Profile& profile, const ExportOptions& options, PageData& data) {
    const profile::Recording& recording = profile.recording;
    const std::array<std::pair<std::string_view, std::string>, 9> facts{{
        {"file", recording.path},
        {"command", recording.command_line},
        {"host", recording.host},
        {"kernel", recording.release},
        {"CPU", recording.cpu},
        {"event", profile.events[options.events.front()].name},
        {"time", fmt::format("{:.3f} s", static_cast<double>(recording.last_ns - recording.first_ns) / 1e9)},
        {"lost records", fmt::format("{} while recording, {} not readable", recording.lost, recording.skipped)},
        {"baseline", options.baseline ? options.baseline->recording.path : std::string{}},
    }};
    for (const auto& [name, value] : facts)
        if (!value.empty()) data.add_fact(name, value);
    data.add_fact("written by", fmt::format("anyperf {}", options.version));
}

}  // namespace

std::string write_html(const profile::Profile& profile, const ExportOptions& options) {
    const profile::Event& event = profile.events[options.events.front()];
    PageData data;
    data.add(profile, options.events.front(), PageData::kNew);
    if (options.baseline) data.add(*options.baseline, options.baseline_event, PageData::kBaseline);
    add_facts(profile, options, data);
    const std::string& command = profile.recording.command_line;
    const std::string title = fmt::format("{}: {}", command.empty() ? profile.recording.path : command, event.name);
    std::string page{anyperf_page_html, anyperf_page_css};
    replace(page, "@CSS@", {anyperf_page_css, anyperf_page_scripts});
    replace(page, "@JS@", {anyperf_page_scripts, anyperf_page_end});
    replace(page, "@DATA@", base64(deflate(data.bytes(title, event))));
    return page;
}

}  // namespace anyperf::exports
