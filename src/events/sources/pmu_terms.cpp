// pmu_terms.cpp: PMU/term,term=value/: terms of one PMU to an attr.
//
// What a term means is in sysfs (ABI/testing/sysfs-bus-event_source-devices-format and -events): a field in format/
// names the bits of config to config4 that its value is spread over; a file in events/ has terms of its own. A term is
// looked for in this order: field, event of sysfs, event of the vendor's list, whole word (config to config4), term
// that every event takes (common_terms.h), kernel's name, name of a cache event, raw code. A field wins over an event
// of the same name, as in perf.
#include "events/sources/pmu_terms.h"

#include <algorithm>
#include <array>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "events/sources/kernel_names.h"
#include "events/sources/vendor_pmus.h"
#include "events/suggest/near_names.h"
#include "events/syntax/common_terms.h"
#include "events/syntax/config_builder.h"
#include "events/syntax/text.h"
#include "try.h"

namespace anyperf::events {

namespace {

constexpr std::array<std::string_view, kConfigWords> kWordTerms{"config", "config1", "config2", "config3", "config4"};

/// PMUs of the kernel that distinguish user mode, kernel mode and guests, though they are not core PMUs.
constexpr std::array<std::string_view, 5> kLikeSoftware{"software", "tracepoint", "breakpoint", "kprobe", "uprobe"};

/// Applies terms to one event. An event of sysfs comes before the user's other terms, wherever it is typed. So in
/// cpu/umask=2,some_event/ the term changes the mask of the event, and the event does not change the term's.
class Builder {
  public:
    Builder(const Machine::Data& machine, const host::Pmu& pmu, Event& event)
        : machine_(machine), pmu_(pmu), event_(event) {
        init_pmu_event(event, pmu);
    }

    /// Applies the event of sysfs first, then the other terms, which may replace fields of it.
    Parsed<> build(std::span<const Term> terms) {
        const Term* event = nullptr;
        for (const Term& term : terms) {
            const host::Alias* alias = alias_of(term);
            if (!alias) continue;
            TRY(add_alias(*alias, term, terms));
            event = &term;
        }
        config_.begin_user_terms();
        for (const Term& term : terms)
            if (&term != event) TRY(add(term));
        config_.write_to(event_.attr);
        return {};
    }

  private:
    /// The event of sysfs that the term names, or else of the vendor's list; nullptr if it names none.
    const host::Alias* alias_of(const Term& term) {
        if (term.value || pmu_.format(term.name)) return nullptr;
        if (const host::Alias* alias = pmu_.event(term.name)) return alias;
        if (auto alias = vendor_alias(machine_, pmu_, term.name)) return &vendor_.emplace(*std::move(alias));
        // cpu/cycles/ is cpu-cycles in events/; PMUs of ARM write it with an underscore.
        const KernelName* kernel = pmu_.is_core() ? find_kernel_name(term.name) : nullptr;
        if (!kernel) return nullptr;
        std::string name{kernel->name};
        if (const host::Alias* alias = pmu_.event(name)) return alias;
        std::ranges::replace(name, '-', '_');
        return pmu_.event(name);
    }

    /// Notes that a term names the event. Error: another one has named it already.
    Parsed<> name_event(const Term& term) {
        if (named_)
            return parse_error(term.text, "there are two events between one pair of slashes", "write two events");
        named_ = true;
        return {};
    }

    /// Adds the terms of an event of sysfs, which the user's term `typed` names. `all`: the user's terms.
    Parsed<> add_alias(const host::Alias& alias, const Term& typed, std::span<const Term> all) {
        TRY(name_event(typed));
        event_.unit = alias.unit;
        event_.scale = alias.scale;
        event_.per_package = alias.per_package;
        event_.snapshot = alias.snapshot;
        const auto added = add_alias_terms(alias, all);
        if (added) return {};
        // Without a place the error is about the user's terms, otherwise it is in the text of sysfs.
        if (added.error().at.data() == nullptr) return parse_error(typed.text, added.error().cause, added.error().fix);
        return parse_error(typed.text, "the kernel describes " + in_quotes(typed.name) + " as " +
                                           in_quotes(alias.terms) + ", where " + added.error().cause);
    }

    Parsed<> add_alias_terms(const host::Alias& alias, std::span<const Term> all) {
        ScratchMemory scratch;
        const auto terms = TRY(tokenize_terms(alias.terms, scratch));
        for (const Term& term : terms) {
            if (term.value != "?") {
                TRY(add_field_or_word(term, pmu_.format(term.name)));
                continue;
            }
            // "core=?": a value that only the user can know (hv_24x7 of powerpc, uncore PMUs).
            if (std::ranges::none_of(all, [&](const Term& given) { return same_ignoring_case(given.name, term.name); }))
                return parse_error({}, in_quotes(alias.name) + " needs a value for " + in_quotes(term.name),
                                   "write " + alias.name + "," + std::string{term.name} + "=NUMBER");
        }
        return {};
    }

    /// A field, a whole word, or a term that every event takes.
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
        ScratchMemory scratch;
        Item item{scratch.memory()};
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

    /// cpu_core/cycles/ if sysfs has no such event: the event that the kernel defines, for this PMU.
    Parsed<> add_kernel_event(const Event& kernel, const Term& term) {
        const bool software = kernel.attr.type == abi::kTypeSoftware;
        if (software != (pmu_.type() == abi::kTypeSoftware)) return unknown(term);
        TRY(name_event(term));
        // On a hybrid machine the upper half of config says which kind of core counts (PERF_PMU_TYPE_SHIFT).
        const bool several = machine_.core_pmus().size() > 1;
        const std::uint64_t config = kernel.attr.config & ((1ull << abi::kPmuTypeShift) - 1);
        event_.attr.type = kernel.attr.type;
        return config_.set_word(
            0, several && !software ? config | std::uint64_t{pmu_.type()} << abi::kPmuTypeShift : config, term);
    }

    std::unexpected<ParseError> unknown(const Term& term) const {
        std::vector<std::string> names;
        for (const host::Format& field : pmu_.details().formats) names.push_back(field.name);
        std::string fields;
        for (const std::string& name : names) fields += ' ' + name;
        for (const host::Alias& alias : pmu_.details().aliases) names.push_back(alias.name);
        for (const CommonTerm& common : common_terms()) names.emplace_back(common.name);
        names.insert(names.end(), kWordTerms.begin(), kWordTerms.end());
        std::string fix = did_you_mean(term.name, names);
        if (fix.empty()) fix = "fields of this PMU:" + (fields.empty() ? " config config1 config2" : fields);
        return parse_error(term.name,
                           "the PMU '" + pmu_.name() + "' has no field or event called " + in_quotes(term.name), fix);
    }

    const Machine::Data& machine_;
    const host::Pmu& pmu_;
    Event& event_;
    ConfigBuilder config_;
    std::optional<host::Alias> vendor_;  ///< the event of the vendor's list that was named
    bool named_ = false;
};

}  // namespace

void init_pmu_event(Event& event, const host::Pmu& pmu) {
    init_event(event, pmu.type(), 0);
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
