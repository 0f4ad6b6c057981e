// csv.cpp: a line for each row of `anyperf report --children`, of all events (RFC 4180, with line feeds).
#include <fmt/format.h>

#include <iterator>

#include "exports/exporter.h"
#include "profile/rows.h"

namespace anyperf::exports {

namespace {

/// The field, in quotation marks if it has a comma, a quotation mark or a line end (RFC 4180, section 2, rules 6 and
/// 7).
std::string quoted(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
    std::string made = "\"";
    for (const char each : text) made += each == '"' ? std::string{"\"\""} : std::string{each};
    return made + '"';
}

}  // namespace

std::string write_csv(const profile::Profile& profile, const ExportOptions& options) {
    std::string text = "event,comm,dso,symbol,samples,self,total\n";
    for (const profile::EventId event : options.events)
        for (const profile::Row& row : sum_up(profile, event, {.children = true}).rows) {
            const profile::Location& place = profile.locations[row.place];
            fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}\n", quoted(profile.events[event].name),
                           quoted(profile.text(row.context.comm)), quoted(profile.text(profile.dsos[place.dso].name)),
                           quoted(symbol_text(profile, place)), row.samples, row.self, row.total);
        }
    return text;
}

}  // namespace anyperf::exports
