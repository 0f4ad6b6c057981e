// validate.cpp: pfm_pmu_validate(3): encodes every event of a PMU, alone and with each of its unit masks, and prints
// those that fail. It checks the event data, not the machine.
#include <perfmon/pfmlib.h>

#include <array>
#include <string_view>

#include "events/catalog/encoding/encoding.h"
#include "pfm/library.h"

namespace anyperf::pfm {

namespace {

using catalog::ErrorCode;

/// Whether a failure means that the data are wrong. That an event needs a mask or a modifier does not.
bool is_fault(ErrorCode code) {
    return code != ErrorCode::success && code != ErrorCode::umask && code != ErrorCode::attribute &&
           code != ErrorCode::feature_combination && code != ErrorCode::not_supported;
}

/// Whether "PMU::EVENT[:MASK]" can be encoded. Prints the failure if not.
bool encodes(const catalog::MachinePmus& machine, const catalog::PmuRow& pmu, std::string_view event,
             std::string_view mask, std::FILE* out) {
    std::array<char, 512> text;
    const int length = std::snprintf(text.data(), text.size(), "%s::%.*s%s%.*s", catalog::c_text(pmu.name),
                                     static_cast<int>(event.size()), event.data(), mask.empty() ? "" : ":",
                                     static_cast<int>(mask.size()), mask.data());
    if (length < 0 || static_cast<std::size_t>(length) >= text.size()) return false;
    catalog::Encoding encoding{machine};
    const auto refusal = catalog::encode({text.data(), static_cast<std::size_t>(length)}, catalog::kPlmUser,
                                         catalog::Os::none, encoding);
    // An event of an inactive PMU is not found unless LIBPFM_ENCODE_INACTIVE is set; that says nothing about the data.
    const bool reached = machine.is_active(pmu) || machine.encode_inactive();
    if (!reached || !is_fault(refusal.code)) return true;
    std::fprintf(out, "%s: %s\n", text.data(), catalog::error_text(static_cast<int>(refusal.code)));
    return false;
}

/// Whether all events of the PMU can be encoded. Events that always need an attribute are left out, as by
/// libpfm4 (can_auto_encode): only the user can choose a value.
bool validate(const catalog::MachinePmus& machine, const catalog::PmuRow& pmu, std::FILE* out) {
    bool sound = true;
    for (int index = -1; (index = catalog::next_event(machine, pmu, index)) >= 0;) {
        const catalog::EventRow& event = *catalog::event_at(machine, pmu, static_cast<std::uint32_t>(index));
        if ((event.flags & catalog::event_flag::no_autoencode) != 0) continue;
        const std::string_view name = catalog::name_of(event);
        sound = encodes(machine, pmu, name, "", out) && sound;
        for (const catalog::MaskRow& mask : catalog::masks(event))
            if (catalog::model_has(pmu, mask))
                sound = encodes(machine, pmu, name, catalog::name_of(mask), out) && sound;
    }
    return sound;
}

}  // namespace

}  // namespace anyperf::pfm

extern "C" pfm_err_t pfm_pmu_validate(pfm_pmu_t pmu_id, FILE* fp) {
    const anyperf::pfm::Session session;
    if (!session.initialized() || fp == nullptr) return PFM_ERR_INVAL;
    const auto* pmu = anyperf::catalog::pmu_of_id(static_cast<std::uint32_t>(pmu_id));
    if (pmu == nullptr || !session.machine().is_enabled(*pmu)) return PFM_ERR_INVAL;
    return anyperf::pfm::validate(session.machine(), *pmu, fp) ? PFM_SUCCESS : PFM_ERR_INVAL;
}
