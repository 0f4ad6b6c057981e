#include "analysis/tracing/trace_texts.h"

#include <algorithm>

#include "abi/event_ids.h"
#include "analysis/tracing/trace_fields.h"
#include "profile/profile.h"
#include "symbols/demangle.h"

namespace anyperf::analysis {

// In pipe mode the formats come in a record before the first sample of a tracepoint.
void TraceTexts::append(const perfdata::Sample& sample, std::size_t event, std::string& text) {
    const abi::Attr& attr = reader_.events()[event].attr;
    if (attr.type != abi::kTypeTracepoint || sample.raw.empty()) return;
    tracepoints().append(attr.config, sample.raw, text);
}

perfdata::Tracepoints& TraceTexts::tracepoints() {
    if (!tracepoints_)
        tracepoints_.emplace(reader_.facts().tracing_data, [this](std::uint64_t address) { return find(address); });
    return *tracepoints_;
}

void TraceTexts::append_fields(const perfdata::Sample& sample, std::size_t event,
                               const std::vector<std::string>& fields, std::string& text) {
    const perfdata::EventInfo& info = reader_.events()[event];
    const bool has_fields = info.attr.type == abi::kTypeTracepoint && !sample.raw.empty();
    whole_.clear();
    if (has_fields) append(sample, event, whole_);
    for (const std::string& name : fields) {
        const TraceField field{name};
        if (has_fields && field.is_of(info.name)) {
            const std::string_view printed = field.raw ? std::string_view{} : printed_value(whole_, field.name);
            if (!printed.empty())
                text += printed;
            else
                tracepoints_->append_field(info.attr.config, sample.raw, field.name, text);
        }
        text += profile::kFieldEnd;
    }
}

bool TraceTexts::only_tracepoints() const {
    const auto is_tracepoint = [](const perfdata::EventInfo& each) { return each.attr.type == abi::kTypeTracepoint; };
    return !reader_.events().empty() && std::ranges::all_of(reader_.events(), is_tracepoint);
}

std::optional<perfdata::KernelPlace> TraceTexts::find(std::uint64_t address) {
    const symbols::Map* map = processes_.kernel().find(address);
    if (!map) return std::nullopt;
    symbols::Dso& dso = dsos_.loaded(*map->dso);
    const std::uint64_t place = dso.symbol_address(address, address - map->start + map->file_offset);
    const symbols::Symbol* symbol = dso.find(place);
    if (!symbol) return std::nullopt;
    return perfdata::KernelPlace{symbols::demangle(dso.linkage_name(*symbol)), place - symbol->start};
}

}  // namespace anyperf::analysis
