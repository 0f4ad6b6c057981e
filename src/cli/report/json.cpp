// json.cpp: a report for programs: an array with an object for each row, heaviest first, event by event. Rows are
// written one by one, so that a large report is never held as a document.
#include <nlohmann/json.hpp>

#include "cli/report/tables.h"

namespace anyperf::cli {

namespace {

using Json = nlohmann::ordered_json;
using profile::Key;
using profile::Profile;
using profile::Row;

/// A pid, tid or CPU; -1 if the recording does not have it.
std::int64_t id(std::uint32_t number) {
    return static_cast<std::int32_t>(number);
}

void add_key(const Profile& profile, Key key, const Row& row, Json& json) {
    const profile::Location& place = profile.locations[row.place];
    switch (key) {
        case Key::comm: json["comm"] = profile.text(row.context.comm); break;
        case Key::pid: json["pid"] = id(row.context.pid); break;
        case Key::tid: json["tid"] = id(row.context.tid); break;
        case Key::cpu: json["cpu"] = id(row.context.cpu); break;
        case Key::dso: json["dso"] = profile.text(profile.dsos[place.dso].name); break;
        case Key::symbol:
            json["symbol"] = symbol_text(profile, place, row.frame);
            if (row.frame != profile::kSymbolFrame) json["inlined"] = true;
            break;
        case Key::weight: json["local_weight"] = std::stoull(key_text(profile, key, row)); break;
        case Key::source_line: json["srcline"] = source_line_text(profile, place, row.line_frame); break;
        default: json[std::string{name_of(profile, key)}] = key_text(profile, key, row);
    }
}

Json callers_as_json(const Profile& profile, const profile::Caller& caller, profile::CallKey key) {
    Json list = Json::array();
    for (const profile::Caller& each : caller.callers) {
        const profile::Location& place = profile.locations[each.place];
        Json json{{"dso", profile.text(profile.dsos[place.dso].name)},
                  {"symbol", symbol_text(profile, place, each.frame)}};
        if (each.frame != profile::kSymbolFrame) json["inlined"] = true;
        if (key == profile::CallKey::address) json["address"] = place.address;
        if (key != profile::CallKey::function) {
            const auto frames = std::max<std::size_t>(profile.frames(place).size(), 1);
            const auto index = std::min<std::size_t>(each.frame, frames - 1);
            json["srcline"] = source_line_text(profile, place, static_cast<profile::FrameIndex>(index));
        }
        json["period"] = each.weight;
        json["callers"] = callers_as_json(profile, each, key);
        list.push_back(std::move(json));
    }
    return list;
}

}  // namespace

std::string rows_as_json(const Profile& profile, const TableOptions& options) {
    std::string text = "[";
    for (std::uint32_t i = 0; i < profile.events.size(); ++i) {
        for (const Row& row : sum_up(profile, {i}, options.rows).rows) {
            Json json;
            for (const Key key : options.rows.keys) add_key(profile, key, row, json);
            json["samples"] = row.samples;
            json["period"] = row.self;
            if (options.rows.children) json["total"] = row.total;
            json["event"] = profile.events[{i}].name;
            if (options.stacks.style != StackOptions::Style::none)
                json["callers"] =
                    callers_as_json(profile, callers_of(profile, row, options.stacks.key), options.stacks.key);
            text += text.size() == 1 ? "\n" : ",\n";
            // Names in files need not be UTF-8.
            text += json.dump(-1, ' ', false, Json::error_handler_t::replace);
        }
    }
    return text + "\n]\n";
}

}  // namespace anyperf::cli
