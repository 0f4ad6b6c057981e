// validate.cpp: pfm_pmu_validate(3): encodes every event of a PMU, alone and with each of its masks, and prints what
// fails.
#include <perfmon/pfmlib.h>

#include <array>
#include <string_view>

#include "events/catalog/encoding.h"
#include "pfm/library.h"

namespace anyperf::pfm {

namespace {

using catalog::Code;

/// A failure that says the facts are wrong; an event that needs a mask or a modifier is not.
bool is_fault(Code code) {
    return code != Code::success && code != Code::umask && code != Code::attribute &&
           code != Code::feature_combination && code != Code::not_supported;
}

/// Whether "PMU::EVENT[:MASK]" can be encoded.
bool encodes(const catalog::Machine& machine, const catalog::PmuRow& pmu, std::string_view event, std::string_view mask,
             std::FILE* out) {
    std::array<char, 512> text;
    const int length = std::snprintf(text.data(), text.size(), "%s::%.*s%s%.*s", catalog::c_text(pmu.name),
                                     static_cast<int>(event.size()), event.data(), mask.empty() ? "" : ":",
                                     static_cast<int>(mask.size()), mask.data());
    if (length < 0 || static_cast<std::size_t>(length) >= text.size()) return false;
    catalog::Encoding encoding{machine};
    const auto refusal = catalog::encode({text.data(), static_cast<std::size_t>(length)}, catalog::kPlmUser,
                                         catalog::Os::none, encoding);
    // A PMU that is not active is not reached by its prefix; that says nothing about the facts.
    const bool reached = machine.active(pmu) || machine.encode_inactive();
    if (!reached || !is_fault(refusal.code)) return true;
    std::fprintf(out, "%s: %s\n", text.data(), catalog::code_text(static_cast<int>(refusal.code)));
    return false;
}

bool validate(const catalog::Machine& machine, const catalog::PmuRow& pmu, std::FILE* out) {
    bool sound = true;
    for (int index = -1; (index = catalog::next_event(machine, pmu, index)) >= 0;) {
        const catalog::EventRow& event = *catalog::event_at(machine, pmu, static_cast<std::uint32_t>(index));
        if ((event.flags & catalog::event_flag::no_autoencode) != 0) continue;
        const std::string_view name = catalog::text(event.name);
        sound = encodes(machine, pmu, name, "", out) && sound;
        for (const catalog::MaskRow& mask : catalog::masks(event))
            if (catalog::visible(pmu, mask))
                sound = encodes(machine, pmu, name, catalog::text(mask.name), out) && sound;
    }
    return sound;
}

}  // namespace

}  // namespace anyperf::pfm

extern "C" pfm_err_t pfm_pmu_validate(pfm_pmu_t pmu_id, FILE* fp) {
    const anyperf::pfm::Session session;
    if (!session.initialized() || fp == nullptr) return PFM_ERR_INVAL;
    const auto* pmu = anyperf::catalog::pmu_of_id(static_cast<std::uint32_t>(pmu_id));
    if (pmu == nullptr || !session.machine().has(*pmu)) return PFM_ERR_INVAL;
    return anyperf::pfm::validate(session.machine(), *pmu, fp) ? PFM_SUCCESS : PFM_ERR_INVAL;
}
