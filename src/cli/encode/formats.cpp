// formats.cpp: the three formats. Each shows the rows that abi::describe() returns.
#include "cli/encode/formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "abi/describe.h"
#include "host/hardware/cpus.h"

namespace anyperf::cli {

namespace {

using abi::DescribedField;
using events::Event;
using events::EventGroup;

constexpr std::size_t kMostNames = 4;  // shown in a line of text; JSON has them all
constexpr std::string_view kPmuDirectory = "/sys/bus/event_source/devices/";

/// A number as the field is usually written: signed, hexadecimal or plain.
std::string value_text(const DescribedField& field) {
    if (field.is_signed) return fmt::format("{}", static_cast<std::int64_t>(field.value));
    return field.hex ? fmt::format("{:#x}", field.value) : fmt::format("{}", field.value);
}

/// What is known about an event besides its attr, as pairs of label and text.
std::vector<std::pair<std::string, std::string>> remarks(const Event& event) {
    std::vector<std::pair<std::string, std::string>> rows;
    if (!event.pmu.empty()) rows.emplace_back("pmu", event.pmu);
    if (!event.missing_pmu.empty())
        rows.emplace_back(
            "type", fmt::format("in {}{}/type, which this machine does not have", kPmuDirectory, event.missing_pmu));
    if (!event.config1_text.empty()) rows.emplace_back("config1 points to", event.config1_text);
    if (!event.cpus.empty()) rows.emplace_back("cpus", host::to_cpu_list(event.cpus));
    if (event.cpu_wide_only) rows.emplace_back("counts", "CPUs, not tasks");
    if (!event.unit.empty() || event.scale != 1)
        rows.emplace_back("unit", fmt::format("{} × {}", event.scale, event.unit));
    if (event.precise_max) rows.emplace_back("precise_ip", "the highest level that opens");
    return rows;
}

/// Whether `field` is the type of a PMU that this machine does not have. The number is assigned at boot, in
/// /sys/bus/event_source/devices/PMU/type, so it cannot be known here.
bool type_is_unknown(const Event& event, const DescribedField& field) {
    return !event.missing_pmu.empty() && field.name == "type";
}

/// The rows to show. abi::describe() explains config by the type; an unknown type must not be mistaken for type 0
/// (PERF_TYPE_HARDWARE), so a number that no PMU has takes its place.
std::vector<DescribedField> fields_of(const Event& event, bool all) {
    abi::Attr attr = event.attr;
    if (!event.missing_pmu.empty()) attr.type = ~std::uint32_t{0};
    return abi::describe(attr, all);
}

/// "a, b, c, d and 3 more".
std::string joined_names(const std::vector<std::string>& names) {
    if (names.size() <= kMostNames) return fmt::format("{}", fmt::join(names, ", "));
    return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kMostNames, ", "),
                       names.size() - kMostNames);
}

/// A line for each field: name, value, meaning. Facts besides the attr follow in parentheses.
std::string event_as_text(const Event& event, bool all, const std::vector<std::string>& names) {
    std::string text = event.name + '\n';
    for (const DescribedField& field : fields_of(event, all)) {
        if (type_is_unknown(event, field)) {
            text += fmt::format("  {:<24} {:<18} the type of {}\n", field.name, "?", event.missing_pmu);
            continue;
        }
        const std::string value = value_text(field);
        text += field.meaning.empty() ? fmt::format("  {:<24} {}\n", field.name, value)
                                      : fmt::format("  {:<24} {:<18} {}\n", field.name, value, field.meaning);
    }
    if (!names.empty()) text += fmt::format("  (names: {})\n", joined_names(names));
    for (const auto& [label, remark] : remarks(event)) text += fmt::format("  ({}: {})\n", label, remark);
    return text;
}

/// The attr as numbers under the kernel's field names; other facts only if there are any.
nlohmann::ordered_json event_as_json(const Event& event, bool all, const std::vector<std::string>& names) {
    nlohmann::ordered_json attr;
    for (const DescribedField& field : fields_of(event, all)) {
        if (type_is_unknown(event, field))
            attr["type"] = nullptr;
        else if (field.is_signed)
            attr[std::string{field.name}] = static_cast<std::int64_t>(field.value);
        else
            attr[std::string{field.name}] = field.value;
    }
    nlohmann::ordered_json json{{"name", event.name}, {"typed", event.source_text}, {"attr", std::move(attr)}};
    if (!event.pmu.empty()) json["pmu"] = event.pmu;
    if (!event.missing_pmu.empty()) json["type_of"] = event.missing_pmu;
    if (!event.config1_text.empty()) json["config1_text"] = event.config1_text;
    if (!event.unit.empty()) json["unit"] = event.unit;
    if (event.scale != 1) json["scale"] = event.scale;
    if (!event.cpus.empty()) json["cpus"] = host::to_cpu_list(event.cpus);
    if (event.cpu_wide_only) json["cpu_wide_only"] = true;
    if (event.precise_max) json["precise_max"] = true;
    if (!names.empty()) json["names"] = names;
    return json;
}

/// A C string literal. Characters that are not printable become octal escapes: unlike \x, these end after three digits.
std::string c_string(std::string_view text) {
    std::string literal = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            literal += fmt::format("\\{}", c);
        else if (c < ' ' || c > '~' || c == '?')  // '?' could begin a trigraph
            literal += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
        else
            literal += c;
    }
    return literal + '"';
}

/// Text that is safe inside a C comment: printable ASCII, without the sequences that begin or end one.
std::string c_comment(std::string_view text) {
    std::string comment;
    for (const char c : text) {
        comment += c < ' ' || c > '~' ? '?' : c;
        if (comment.ends_with("*/") || comment.ends_with("/*")) comment.insert(comment.size() - 1, " ");
    }
    return comment;
}

/// A designated initialiser. `size` is that of the user's headers, not anyperf's, so that the kernel learns which
/// fields the compiled structure has. Names of events may contain any bytes, so they are made safe for comments and
/// literals.
std::string event_as_c(const Event& event, const std::string& variable) {
    std::string text = fmt::format("/* {} */\nstruct perf_event_attr {} = {{\n", c_comment(event.name), variable);
    for (const DescribedField& field : fields_of(event, false)) {
        if (field.name == "size") continue;
        if (type_is_unknown(event, field)) {
            text += fmt::format("    .type = 0,  /* the number in {}{}/type */\n", kPmuDirectory, event.missing_pmu);
            continue;
        }
        text += fmt::format("    .{} = {}{},", field.name, value_text(field), field.value > INT32_MAX ? "ULL" : "");
        text += field.meaning.empty() ? "\n" : fmt::format("  /* {} */\n", field.meaning);
    }
    if (!event.config1_text.empty())
        text += fmt::format("    .config1 = (unsigned long){},\n", c_string(event.config1_text));
    return text + "    .size = sizeof(struct perf_event_attr),\n};\n";
}

}  // namespace

std::string encoded_as_text(const std::vector<EventGroup>& groups, bool all, const NameLookup& names_of) {
    std::string text;
    for (const EventGroup& group : groups) {
        const bool is_group = group.events.size() > 1;
        if (is_group) text += fmt::format("group of {}{}:\n", group.events.size(), group.weak ? ", weak" : "");
        for (const Event& event : group.events) text += event_as_text(event, all, names_of(event));
    }
    return text;
}

std::string encoded_as_json(const std::vector<EventGroup>& groups, bool all, const NameLookup& names_of) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const EventGroup& group : groups) {
        nlohmann::ordered_json members = nlohmann::ordered_json::array();
        for (const Event& event : group.events) members.push_back(event_as_json(event, all, names_of(event)));
        list.push_back({{"name", group.name}, {"weak", group.weak}, {"events", std::move(members)}});
    }
    constexpr auto kReplace = nlohmann::ordered_json::error_handler_t::replace;  // names may contain any bytes
    return nlohmann::ordered_json{{"groups", std::move(list)}}.dump(2, ' ', false, kReplace) + '\n';
}

std::string encoded_as_c(const std::vector<EventGroup>& groups) {
    std::string text;
    const bool single = groups.size() == 1 && groups.front().events.size() == 1;
    std::size_t count = 0;
    for (const EventGroup& group : groups)
        for (const Event& event : group.events)
            text += event_as_c(event, single ? "attr" : fmt::format("attr_{}", ++count));
    return text;
}

}  // namespace anyperf::cli
