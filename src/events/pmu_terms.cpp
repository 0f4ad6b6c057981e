// pmu_terms.cpp: see pmu_terms.h.
#include "events/pmu_terms.h"

#include <algorithm>
#include <array>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "events/common_terms.h"
#include "events/config.h"
#include "events/kernel_names.h"
#include "events/near_names.h"
#include "events/text.h"

namespace anyperf::events {

namespace {

constexpr std::array<std::string_view, kConfigWords> kWordTerms{"config", "config1", "config2", "config3", "config4"};

/// PMUs of the kernel's own that know user mode from kernel mode and guests, though they are no core PMUs.
constexpr std::array<std::string_view, 5> kLikeSoftware{"software", "tracepoint", "breakpoint", "kprobe", "uprobe"};

class Builder {
  public:
    Builder(const Machine::Data& machine, const host::Pmu& pmu, Event& event)
        : machine_(machine), pmu_(pmu), event_(event) {
        begin_of_pmu(event, pmu);
    }

    /// First the event of sysfs, then the terms beside it, which may replace fields of its.
    Parsed<> build(std::span<const Term> terms) {
        const Term* event = nullptr;
        for (const Term& term : terms) {
            const host::Alias* alias = alias_of(term);
            if (!alias) continue;
            TRY(add_alias(*alias, term, terms));
            event = &term;
        }
        config_.user_terms_begin();
        for (const Term& term : terms)
            if (&term != event) TRY(add(term));
        config_.write_to(event_.attr);
        return {};
    }

  private:
    const host::Alias* alias_of(const Term& term) const {
        if (term.value || pmu_.format(term.name)) return nullptr;
        if (const host::Alias* alias = pmu_.event(term.name)) return alias;
        // cpu/cycles/ is the PMU's cpu-cycles; on ARM the underscore is usual.
        const KernelName* kernel = pmu_.is_core() ? find_kernel_name(term.name) : nullptr;
        if (!kernel) return nullptr;
        std::string name{kernel->name};
        if (const host::Alias* alias = pmu_.event(name)) return alias;
        std::ranges::replace(name, '-', '_');
        return pmu_.event(name);
    }

    Parsed<> add_alias(const host::Alias& alias, const Term& typed, std::span<const Term> all) {
        if (named_) return fault(typed.text, "two events between one pair of slashes", "write two events");
        named_ = true;
        event_.unit = alias.unit;
        event_.scale = alias.scale;
        event_.per_package = alias.per_package;
        event_.snapshot = alias.snapshot;
        const auto added = add_alias_terms(alias, all);
        if (added) return {};
        if (added.error().at.data() == nullptr) return fault(typed.text, added.error().cause, added.error().fix);
        return fault(typed.text, "the kernel describes " + in_quotes(typed.name) + " as " + in_quotes(alias.terms) +
                                     ", where " + added.error().cause);
    }

    Parsed<> add_alias_terms(const host::Alias& alias, std::span<const Term> all) {
        Room room;
        const auto terms = TRY(tokenize_terms(alias.terms, room));
        for (const Term& term : terms) {
            if (term.value != "?") {
                TRY(add_field_or_word(term, pmu_.format(term.name)));
                continue;
            }
            // "core=?": a part that only the user can know (powerpc's hv_24x7, uncore PMUs).
            if (std::ranges::none_of(all, [&](const Term& given) { return same(given.name, term.name); }))
                return fault({}, in_quotes(alias.name) + " needs a value for " + in_quotes(term.name),
                             "write " + alias.name + "," + std::string{term.name} + "=NUMBER");
        }
        return {};
    }

    Parsed<> add_field_or_word(const Term& term, const host::Format* field) {
        if (field) return config_.set(*field, term.value ? TRY(number_of(term)) : 1, term);
        const auto word = std::ranges::find(kWordTerms, term.name);
        if (word != kWordTerms.end())
            return config_.set_word(static_cast<std::size_t>(word - kWordTerms.begin()), TRY(number_of(term)), term);
        if (const CommonTerm* common = find_common_term(term)) return common->apply(event_, term);
        return unknown(term);
    }

    Parsed<> add(const Term& term) {
        const host::Format* field = pmu_.format(term.name);
        if (field || term.value || find_common_term(term)) return add_field_or_word(term, field);
        Room room;
        Item item{room.memory()};
        item.text = term.text;
        item.parts.push_back(term.name);
        if (pmu_.is_core() || pmu_.type() == abi::kTypeSoftware) {
            for (const Source source : {from_kernel_names, from_cache_names}) {
                const auto match = TRY(source(machine_, item));
                if (match) return add_kernel_event(match->events.front(), term);
            }
        }
        const auto raw = TRY(from_raw(machine_, item));
        if (raw) return config_.set_word(0, raw->events.front().attr.config, term);
        return unknown(term);
    }

    /// cpu_core/cycles/ where sysfs has no such event: the kernel's own, for this PMU.
    Parsed<> add_kernel_event(const Event& kernel, const Term& term) {
        const bool software = kernel.attr.type == abi::kTypeSoftware;
        if (software != (pmu_.type() == abi::kTypeSoftware)) return unknown(term);
        if (named_) return fault(term.text, "two events between one pair of slashes", "write two events");
        named_ = true;
        const bool several = machine_.core_pmus().size() > 1;
        const std::uint64_t config = kernel.attr.config & ((1ull << abi::kPmuTypeShift) - 1);
        event_.attr.type = kernel.attr.type;
        return config_.set_word(
            0, several && !software ? config | std::uint64_t{pmu_.type()} << abi::kPmuTypeShift : config, term);
    }

    std::unexpected<Fault> unknown(const Term& term) const {
        std::vector<std::string> names;
        for (const host::Format& field : pmu_.details().formats) names.push_back(field.name);
        std::string fields;
        for (const std::string& name : names) fields += ' ' + name;
        for (const host::Alias& alias : pmu_.details().aliases) names.push_back(alias.name);
        for (const CommonTerm& common : common_terms()) names.emplace_back(common.name);
        names.insert(names.end(), kWordTerms.begin(), kWordTerms.end());
        std::string fix = did_you_mean(term.name, names);
        if (fix.empty()) fix = "fields of this PMU:" + (fields.empty() ? " config config1 config2" : fields);
        return fault(term.name,
                     "the PMU '" + pmu_.name() + "' has no field and no event called " + in_quotes(term.name), fix);
    }

    const Machine::Data& machine_;
    const host::Pmu& pmu_;
    Event& event_;
    Config config_;
    bool named_ = false;
};

}  // namespace

void begin_of_pmu(Event& event, const host::Pmu& pmu) {
    begin_plain(event, pmu.type(), 0);
    const bool filters = pmu.is_core() || std::ranges::find(kLikeSoftware, pmu.name()) != kLikeSoftware.end();
    // Uncore PMUs and the like (msr, power) refuse every exclude bit with EINVAL (PERF_PMU_CAP_NO_EXCLUDE).
    if (!filters) event.attr.flags &= ~abi::flag("exclude_guest");
    event.pmu = pmu.name();
    event.cpus = pmu.cpus();
    event.cpu_wide_only = pmu.is_uncore();
}

Parsed<> resolve_pmu_terms(const Machine::Data& machine, const host::Pmu& pmu, std::span<const Term> terms,
                           Event& event) {
    return Builder{machine, pmu, event}.build(terms);
}

}  // namespace anyperf::events
