#include "cli/script/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "abi/event_ids.h"
#include "abi/sample_bits.h"

namespace anyperf::cli {

// Either all words have a sign, and change the defaults, or none has, and they replace them; a mixture has no clear
// meaning.
Result<ChosenFields> fields_named(const std::vector<std::string>& names) {
    ChosenFields chosen;
    std::size_t changes = 0;
    for (const std::string& word : names) {
        const bool adds = word.starts_with('+'), removes = word.starts_with('-');
        const std::string_view name = std::string_view{word}.substr(adds || removes ? 1 : 0);
        const auto row = std::ranges::find(kFieldNames, name, &FieldName::name);
        if (row == kFieldNames.end()) {
            std::string known;
            for (const FieldName& each : kFieldNames) fmt::format_to(std::back_inserter(known), " {}", each.name);
            return std::unexpected(Error{fmt::format("cannot print '{}'", name), "it is not a field that script has",
                                         fmt::format("use some of:{}", known)});
        }
        (removes ? chosen.removed : chosen.added).add(row->field);
        changes += adds || removes ? 1 : 0;
    }
    if (changes != 0 && changes != names.size())
        return std::unexpected(Error{"cannot print these fields",
                                     "some have + or -, which changes the default fields, and some have not",
                                     "give all fields, as ip,sym; or changes only, as +srcline,-dso"});
    chosen.changes = changes != 0;
    return chosen;
}

Fields ChosenFields::of(const abi::Attr& attr) const {
    if (!changes) return added;
    Fields fields = default_fields(attr);
    for (const FieldName& each : kFieldNames) {
        if (added.has(each.field)) fields.add(each.field);
        if (removed.has(each.field)) fields.remove(each.field);
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
