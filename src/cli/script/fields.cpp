#include "cli/script/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "analysis/missing_data.h"
#include "cli/command/target_options.h"
#include "try.h"

namespace anyperf::cli {

namespace {

struct TypeName {
    std::string_view name;
    std::uint32_t type;
};
constexpr std::array kEventTypes{TypeName{"hw", abi::kTypeHardware}, TypeName{"sw", abi::kTypeSoftware},
                                 TypeName{"trace", abi::kTypeTracepoint}, TypeName{"raw", abi::kTypeRaw}};

/// A field, and what samples must have for it.
struct NeededBits {
    Field field;
    std::uint64_t bits;
    std::string_view fix;
};
constexpr std::array kNeededBits{
    NeededBits{Field::cpu, abi::sample("PERF_SAMPLE_CPU"), "record with -a or --sample-cpu"},
    NeededBits{Field::time, abi::sample("PERF_SAMPLE_TIME"), "record with anyperf record"},
    NeededBits{Field::addr, abi::sample("PERF_SAMPLE_ADDR"), "record with -d"},
    NeededBits{Field::data_src, abi::sample("PERF_SAMPLE_DATA_SRC"), "record with -d"},
    NeededBits{Field::weight, abi::sample("PERF_SAMPLE_WEIGHT") | abi::sample("PERF_SAMPLE_WEIGHT_STRUCT"),
               "record with -W"},
    NeededBits{Field::ins_lat, abi::sample("PERF_SAMPLE_WEIGHT_STRUCT"), "record with -W"},
    NeededBits{Field::brstack, abi::sample("PERF_SAMPLE_BRANCH_STACK"), "record with -b"},
    NeededBits{Field::brstacksym, abi::sample("PERF_SAMPLE_BRANCH_STACK"), "record with -b"},
    NeededBits{Field::brstackoff, abi::sample("PERF_SAMPLE_BRANCH_STACK"), "record with -b"},
    NeededBits{Field::phys_addr, abi::sample("PERF_SAMPLE_PHYS_ADDR"), "record with --phys-data"},
    NeededBits{Field::data_page_size, abi::sample("PERF_SAMPLE_DATA_PAGE_SIZE"), "record with --data-page-size"},
    NeededBits{Field::code_page_size, abi::sample("PERF_SAMPLE_CODE_PAGE_SIZE"), "record with --code-page-size"},
    NeededBits{Field::uregs, abi::sample("PERF_SAMPLE_REGS_USER"),
               "record with --user-regs, or --call-graph dwarf,raw"},
    NeededBits{Field::iregs, abi::sample("PERF_SAMPLE_REGS_INTR"), "record with --intr-regs"},
};

/// Fields of perf 6.1 that are not printed.
constexpr std::array<std::string_view, 2> kUnserved{"brstackinsn", "brstackinsnlen"};

Error unknown_field(std::string_view name) {
    std::string known;
    for (const FieldName& each : kFieldNames) fmt::format_to(std::back_inserter(known), " {}", each.name);
    const bool of_perf = std::ranges::find(kUnserved, name) != kUnserved.end();
    return {fmt::format("cannot print '{}'", name),
            of_perf ? "it is a field of perf's that anyperf script does not have" : "it is not a field that script has",
            fmt::format("use some of:{}", known)};
}

}  // namespace

// Either all words have a sign, and change the defaults, or none has, and they replace them; a mixture has no clear
// meaning.
Result<ChosenFields::Choice> ChosenFields::choice_of(std::string_view list) {
    Choice chosen;
    std::size_t changes = 0, words = 0;
    for (const std::string_view word : split_at_commas(list)) {
        if (word.empty() && list.empty()) continue;
        const bool adds = word.starts_with('+'), removes = word.starts_with('-');
        const std::string_view name = word.substr(adds || removes ? 1 : 0);
        const auto row = std::ranges::find(kFieldNames, name, &FieldName::name);
        if (row == kFieldNames.end()) return std::unexpected(unknown_field(name));
        (removes ? chosen.removed : chosen.added).add(row->field);
        changes += adds || removes ? 1 : 0;
        ++words;
    }
    if (changes != 0 && changes != words)
        return std::unexpected(Error{"cannot print these fields",
                                     "some have + or -, which changes the default fields, and some have not",
                                     "give all fields, as ip,sym; or changes only, as +srcline,-dso"});
    chosen.changes = changes != 0;
    return chosen;
}

Result<ChosenFields> ChosenFields::parse(const std::vector<std::string>& texts) {
    ChosenFields chosen;
    std::string for_all;
    std::map<std::uint32_t, std::string> for_types;
    const auto add = [](std::string& list, std::string_view text) {
        list += list.empty() ? "" : ",";
        list += text;
    };
    for (const std::string& text : texts) {
        const std::size_t colon = text.find(':');
        if (colon == std::string::npos) {
            add(for_all, text);
            continue;
        }
        const std::string_view type = std::string_view{text}.substr(0, colon);
        const auto row = std::ranges::find(kEventTypes, type, &TypeName::name);
        if (row == kEventTypes.end())
            return std::unexpected(Error{fmt::format("cannot print fields of '{}'", type), "it is not a type of events",
                                         "use hw, sw, trace or raw, as trace:comm,time"});
        add(for_types[row->type], std::string_view{text}.substr(colon + 1));
    }
    if (!for_all.empty()) chosen.all_ = TRY(choice_of(for_all));
    for (const auto& [type, list] : for_types) chosen.by_type_[type] = TRY(choice_of(list));
    return chosen;
}

bool ChosenFields::names(Field field) const {
    return all_.added.has(field) ||
           std::ranges::any_of(by_type_, [&](const auto& choice) { return choice.second.added.has(field); });
}

// In pipe mode the events are not known yet, and nothing is said.
Result<void> ChosenFields::check(const perfdata::Reader& reader) const {
    if (names(Field::tod) && !reader.is_pipe() && reader.facts().wall_clock_ns == 0)
        return std::unexpected(Error{"cannot print 'tod'", "the recording does not say when its clock had which time",
                                     "leave it out; or record with -k monotonic"});
    for (const NeededBits& each : kNeededBits) {
        if (!names(each.field) || analysis::some_event_has(reader, each.bits)) continue;
        const auto row = std::ranges::find(kFieldNames, each.field, &FieldName::field);
        return std::unexpected(Error{fmt::format("cannot print '{}'", row->name), "no sample of the recording has it",
                                     fmt::format("leave it out; or {}", each.fix)});
    }
    return {};
}

Fields ChosenFields::of(const abi::Attr& attr) const {
    const auto own = by_type_.find(attr.type);
    const Choice& choice = own == by_type_.end() ? all_ : own->second;
    if (!choice.changes) return choice.added;
    Fields fields = default_fields(attr);
    for (const FieldName& each : kFieldNames) {
        if (choice.added.has(each.field)) fields.add(each.field);
        if (choice.removed.has(each.field)) fields.remove(each.field);
    }
    return fields;
}

// perf's defaults (output[] in tools/perf/builtin-script.c): fields that the event's samples have. A tracepoint is
// shown by its own fields instead of an address.
Fields default_fields(const abi::Attr& attr) {
    const auto has = [&](std::uint64_t mask) { return (attr.sample_type & mask) != 0; };
    const bool tracepoint = attr.type == abi::kTypeTracepoint;
    Fields fields;
    for (const Field field : {Field::comm, Field::tid, Field::event}) fields.add(field);
    if (has(abi::sample("PERF_SAMPLE_TIME"))) fields.add(Field::time);
    if (has(abi::sample("PERF_SAMPLE_CPU"))) fields.add(Field::cpu);
    if (tracepoint) fields.add(Field::trace);
    if (!tracepoint && has(abi::sample("PERF_SAMPLE_PERIOD"))) fields.add(Field::period);
    if (!tracepoint || has(abi::sample("PERF_SAMPLE_CALLCHAIN")))
        for (const Field field : {Field::ip, Field::sym, Field::symoff, Field::dso}) fields.add(field);
    return fields;
}

}  // namespace anyperf::cli
