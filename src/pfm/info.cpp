// info.cpp: pfm_get_pmu_info(3), pfm_get_event_next(3), pfm_get_event_info(3), pfm_get_event_attr_info(3): enumerate
// and describe PMUs, events and their attributes (unit masks and modifiers).
//
// Texts in the answers are part of the library and valid for as long as it is loaded; those of tracepoints until
// pfm_terminate().
//
// An event's number has the PMU's id and the event's index in that PMU (structures.h). Both are part of libpfm's
// interface in practice, since programs store numbers: ids are those of pfm_pmu_t, and an index is the event's position
// in the PMU's table. A model may lack events of a table that it shares with others, so numbers have gaps: programs go
// from one event to the next by pfm_get_event_next().
#include <perfmon/pfmlib.h>

#include <bit>
#include <optional>

#include "events/catalog/encoding/request.h"
#include "pfm/descriptions.h"
#include "pfm/library.h"
#include "pfm/structures.h"

namespace anyperf::pfm {

namespace {

using catalog::EventRow;
using catalog::MachinePmus;
using catalog::MaskRow;
using catalog::Os;
using catalog::PmuRow;
namespace event_flag = catalog::event_flag;
namespace mask_flag = catalog::mask_flag;
namespace pmu_flag = catalog::pmu_flag;

/// Null for no text, as the interface has it.
const char* text_or_null(catalog::Text text) {
    return text == 0 ? nullptr : catalog::c_text(text);
}

/// How many events the PMU has. A PMU whose events depend on the machine (host_events) has those of this machine.
int event_count(const MachinePmus& machine, const PmuRow& pmu) {
    if ((pmu.flags & pmu_flag::host_events) == 0) return static_cast<int>(pmu.event_count);
    std::uint32_t count = 0;
    for (const catalog::EventRange& segment : machine.events_of(pmu)) count += segment.count;
    return static_cast<int>(count);
}

/// is_present says whether the machine has the PMU. There are no descriptions, so desc is the name.
void fill(const MachinePmus& machine, const PmuRow& pmu, pfm_pmu_info_t& out) {
    const int first = catalog::next_event(machine, pmu, -1);
    out = pfm_pmu_info_t{};
    out.name = catalog::c_text(pmu.name);
    out.desc = out.name;
    out.size = sizeof out;
    out.pmu = static_cast<pfm_pmu_t>(pmu.id);
    out.type = static_cast<pfm_pmu_type_t>(pmu.type);
    out.nevents = event_count(machine, pmu);
    out.first_event = first < 0 ? -1 : event_number(pmu.id, static_cast<std::uint32_t>(first));
    out.max_encoding = pmu.max_encoding;
    out.num_cntrs = static_cast<int>(machine.counters_of(pmu));
    out.num_fixed_cntrs = static_cast<int>(machine.fixed_counters_of(pmu));
    out.is_present = machine.is_active(pmu);
    out.is_dfl = (pmu.flags & pmu_flag::arch_dfl) != 0;
}

/// An event number, resolved.
struct Numbered {
    const PmuRow* pmu = nullptr;
    const EventRow* event = nullptr;
};

/// The event with this number. Empty if the library has no such event, this model lacks it, or its PMU is not enabled.
std::optional<Numbered> event_of(const MachinePmus& machine, int number) {
    if (number < 0) return std::nullopt;
    const PmuRow* pmu = catalog::pmu_of_id(pmu_id_of(number));
    if (pmu == nullptr || !machine.is_enabled(*pmu)) return std::nullopt;
    const EventRow* event = catalog::event_at(machine, *pmu, private_index_of(number));
    if (event == nullptr) return std::nullopt;
    return Numbered{pmu, event};
}

/// Whether the event counts speculative work, if the PMU's data say so at all.
unsigned speculation(const PmuRow& pmu, const EventRow& event) {
    if ((pmu.flags & pmu_flag::spec) == 0) return PFM_EVENT_INFO_SPEC_NA;
    return (event.flags & event_flag::spec) != 0 ? PFM_EVENT_INFO_SPEC_TRUE : PFM_EVENT_INFO_SPEC_FALSE;
}

/// The number of unit masks that this model has; others of the event belong to other models.
unsigned visible_masks(const Numbered& found) {
    unsigned count = 0;
    for (const MaskRow& mask : catalog::masks(*found.event)) count += catalog::model_has(*found.pmu, mask);
    return count;
}

/// The event's name, as there are no descriptions. An alias among perf's generic events has the name of its target.
const char* description(const MachinePmus& machine, const Numbered& found) {
    if (found.pmu->encoder != catalog::Encoder::perf || found.event->equivalent == 0)
        return catalog::name_of(*found.event).data();
    const std::string_view target = catalog::text(found.event->equivalent);
    const auto real = catalog::find_event(machine, *found.pmu, target, catalog::name_hash(target));
    return catalog::name_of(real.event == nullptr ? *found.event : *real.event).data();
}

/// nattrs counts what pfm_get_event_attr_info() can describe for this `os`.
void fill(const MachinePmus& machine, const Numbered& found, int number, Os os, pfm_event_info_t& out) {
    const auto [pmu, event] = found;
    const catalog::AllowedModifiers possible = catalog::allowed_modifiers(machine, *pmu, *event, os);
    out = pfm_event_info_t{};
    out.name = catalog::name_of(*event).data();
    out.desc = description(machine, found);
    out.equiv = text_or_null(event->equivalent);
    out.size = sizeof out;
    out.code = event->code;
    out.pmu = static_cast<pfm_pmu_t>(pmu->id);
    out.dtype = PFM_DTYPE_UINT64;
    out.idx = number;
    out.nattrs = static_cast<int>(visible_masks(found)) + std::popcount(possible.pmu) + std::popcount(possible.perf);
    const bool precise = (event->flags & event_flag::pebs) != 0;
    out.is_precise = precise;
    out.is_speculative = speculation(*pmu, *event);
    out.support_hw_smpl = precise || (pmu->flags & pmu_flag::extpebs) != 0;
}

/// Whether a mask's code is reported as it is. For the other PMUs it is reported without the low 8 bits, the event's
/// code.
bool whole_code(const PmuRow& pmu, const MaskRow& mask) {
    using catalog::Encoder;
    return (mask.flags & mask_flag::code_override) != 0 || pmu.encoder == Encoder::amd64 ||
           pmu.encoder == Encoder::netburst || pmu.encoder == Encoder::perf;
}

/// The code to report for a mask. A mask that only sets a filter register has the filter's value.
std::uint64_t code_of(const PmuRow& pmu, const MaskRow& mask) {
    if (mask.code == 0 && (pmu.flags & pmu_flag::attr_code_filt) != 0) return catalog::rule(mask).filter0;
    return whole_code(pmu, mask) ? mask.code : mask.code >> 8;
}

/// A unit mask as an attribute.
void fill(const Numbered& found, const MaskRow& mask, pfm_event_attr_info_t& out) {
    const bool takes_modifiers = (mask.flags & mask_flag::no_mods) == 0;
    const bool precise = takes_modifiers && (mask.flags & mask_flag::pebs) != 0;
    out.name = catalog::name_of(mask).data();
    out.desc = out.name;
    out.equiv = text_or_null(catalog::rule(mask).equivalent);
    out.code = code_of(*found.pmu, mask);
    out.type = PFM_ATTR_UMASK;
    out.ctrl = PFM_ATTR_CTRL_PMU;
    out.is_dfl = found.pmu->encoder != catalog::Encoder::perf && (mask.flags & mask_flag::dfl) != 0;
    out.is_precise = precise;
    out.is_speculative = speculation(*found.pmu, *found.event);
    out.support_hw_smpl = takes_modifiers && (precise || (found.pmu->flags & pmu_flag::extpebs) != 0);
}

/// A modifier as an attribute; its code is its index in the set.
void fill(catalog::Modset set, unsigned index, pfm_attr_ctrl_t control, pfm_event_attr_info_t& out) {
    const catalog::ModifierRow& modifier = catalog::modifiers(set)[index];
    out.name = catalog::c_text(modifier.name);
    out.desc = modifier_description(set, index);
    out.code = index;
    out.type = modifier.integer ? PFM_ATTR_MOD_INTEGER : PFM_ATTR_MOD_BOOL;
    out.ctrl = control;
}

/// The index of the n-th set bit, from 0; empty if fewer are set.
std::optional<unsigned> nth_bit(std::uint32_t bits, unsigned n) {
    for (unsigned index = 0; index < 32; ++index)
        if (((bits >> index) & 1) != 0 && n-- == 0) return index;
    return std::nullopt;
}

/// Describes the attribute at `position`; false if there is none. Attributes are numbered in this order: unit masks of
/// this model as in the table, modifiers of the PMU, modifiers of perf. The numbering depends on the layer `os`, since
/// the perf layers remove and add modifiers: an index of one layer means something else in another.
bool fill(const MachinePmus& machine, const Numbered& found, unsigned position, Os os, pfm_event_attr_info_t& out) {
    for (const MaskRow& mask : catalog::masks(*found.event)) {
        if (!catalog::model_has(*found.pmu, mask)) continue;
        if (position-- == 0) {
            fill(found, mask, out);
            return true;
        }
    }
    const catalog::AllowedModifiers possible = catalog::allowed_modifiers(machine, *found.pmu, *found.event, os);
    const auto own = static_cast<unsigned>(std::popcount(possible.pmu));
    const bool is_own = position < own;
    const auto index = is_own ? nth_bit(possible.pmu, position) : nth_bit(possible.perf, position - own);
    if (!index) return false;
    fill(is_own ? found.pmu->modset : catalog::Modset::perf, *index,
         is_own ? PFM_ATTR_CTRL_PMU : PFM_ATTR_CTRL_PERF_EVENT, out);
    return true;
}

}  // namespace

}  // namespace anyperf::pfm

using anyperf::pfm::acceptable_size;
using anyperf::pfm::Session;
namespace catalog = anyperf::catalog;

extern "C" {

pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t* output) {
    const Session session;
    if (!session.initialized()) return PFM_ERR_NOINIT;
    // As in libpfm4: an id without a PMU is NOTSUPP; INVAL is only for ids beyond the table.
    const auto id = static_cast<std::uint32_t>(pmu);
    if (id >= catalog::id_limit() || output == nullptr) return PFM_ERR_INVAL;
    if (!acceptable_size(output, output->size, sizeof *output)) return PFM_ERR_INVAL;
    const catalog::PmuRow* row = catalog::pmu_of_id(id);
    if (row == nullptr || !session.machine().is_enabled(*row)) return PFM_ERR_NOTSUPP;
    anyperf::pfm::fill(session.machine(), *row, *output);
    return PFM_SUCCESS;
}

int pfm_get_event_next(int idx) {
    const Session session;
    if (!session.initialized()) return -1;
    const auto found = anyperf::pfm::event_of(session.machine(), idx);
    if (!found) return -1;
    const int after = static_cast<int>(anyperf::pfm::private_index_of(idx));
    const int next = catalog::next_event(session.machine(), *found->pmu, after);
    return next < 0 ? -1 : anyperf::pfm::event_number(found->pmu->id, static_cast<std::uint32_t>(next));
}

pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t* output) {
    const Session session;
    if (!session.initialized()) return PFM_ERR_NOINIT;
    if (static_cast<unsigned>(os) >= PFM_OS_MAX || output == nullptr) return PFM_ERR_INVAL;
    const auto found = anyperf::pfm::event_of(session.machine(), idx);
    if (!found || !acceptable_size(output, output->size, sizeof *output)) return PFM_ERR_INVAL;
    anyperf::pfm::fill(session.machine(), *found, idx, static_cast<catalog::Os>(os), *output);
    return PFM_SUCCESS;
}

pfm_err_t pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os, pfm_event_attr_info_t* output) {
    const Session session;
    if (!session.initialized()) return PFM_ERR_NOINIT;
    if (static_cast<unsigned>(os) >= PFM_OS_MAX || output == nullptr || aidx < 0) return PFM_ERR_INVAL;
    const auto found = anyperf::pfm::event_of(session.machine(), eidx);
    if (!found || !acceptable_size(output, output->size, sizeof *output)) return PFM_ERR_INVAL;
    // Filled apart, so that *output is written on success only.
    pfm_event_attr_info_t info{};
    info.size = sizeof info;
    info.idx = aidx;
    const auto position = static_cast<unsigned>(aidx);
    if (!anyperf::pfm::fill(session.machine(), *found, position, static_cast<catalog::Os>(os), info))
        return PFM_ERR_INVAL;
    *output = info;
    return PFM_SUCCESS;
}
}
