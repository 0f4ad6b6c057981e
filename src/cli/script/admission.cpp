#include "cli/script/admission.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/call_chain.h"
#include "cli/option_checks.h"
#include "symbols/demangle.h"

namespace anyperf::cli {

namespace {

template <class List, class Value>
bool lists(const List& list, const Value& value) {
    return list.empty() || std::ranges::find(list, value) != list.end();
}

}  // namespace

bool Admission::admits_task(const perfdata::Sample& sample) {
    const profile::SampleFilter& wanted = filters_.samples;
    return lists(wanted.pids, sample.pid) && lists(wanted.tids, sample.tid) &&
           (wanted.comms.empty() || lists(wanted.comms, strings_[processes_.comm(sample.tid)]));
}

/// The file and the function of the sample's own address.
bool Admission::admits_code(const perfdata::Sample& sample) {
    const profile::SampleFilter& wanted = filters_.samples;
    if (wanted.dsos.empty() && wanted.symbols.empty()) return true;
    const auto mode = analysis::mode_of(sample.misc);
    const bool user = mode == analysis::RawFrame::user;
    const symbols::AddressSpace& space = user ? processes_[processes_.space(sample.pid)] : processes_.kernel();
    const symbols::Map* const map = mode == analysis::RawFrame::other ? nullptr : space.find(sample.ip);
    if (!map || (!lists(wanted.dsos, map->dso->name()) && !lists(wanted.dsos, map->dso->path()))) return false;
    if (wanted.symbols.empty() || is_at_address(sample.ip)) return true;
    const symbols::Dso& dso = dsos_.loaded(*map->dso);
    const std::uint64_t offset = sample.ip - map->start + map->file_offset;
    const symbols::Symbol* const symbol = dso.find(dso.symbol_address(sample.ip, offset));
    return symbol && is_named(dso, *symbol);
}

/// The names that are addresses: 0x401136.
void Admission::find_addresses() {
    for (const std::string& name : filters_.samples.symbols)
        if (const auto address = whole_number_in<std::uint64_t>(name); address && name.starts_with("0x"))
            addresses_.push_back(*address);
}

bool Admission::is_at_address(std::uint64_t ip) const {
    return std::ranges::any_of(addresses_,
                               [&](std::uint64_t from) { return ip >= from && ip - from < filters_.address_range; });
}

bool Admission::is_named(const symbols::Dso& dso, const symbols::Symbol& symbol) {
    const auto [known, fresh] = named_.try_emplace(&symbol, false);
    if (!fresh) return known->second;
    const std::vector<std::string>& names = filters_.samples.symbols;
    const std::string_view linkage_name = dso.linkage_name(symbol);
    return known->second = lists(names, linkage_name) || lists(names, symbols::demangle(linkage_name)) ||
                           lists(names, fmt::format("{:#x}", symbol.start));
}

}  // namespace anyperf::cli
