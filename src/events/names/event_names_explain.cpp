// event_names_explain.cpp: EventNames::explain: the names that encode to a given attr. It encodes each event of the
// PMUs, alone or with one mask, and compares the result with the attr. So the rules of all encoders apply in this
// direction, too.
#include <algorithm>

#include "anyperf/event_names.h"
#include "events/catalog/encoding/encoding.h"
#include "events/names/event_names_data.h"

namespace anyperf::events {

namespace {

using catalog::EventRow;
using catalog::MaskRow;
using catalog::PmuRow;

/// Collects the names whose encoding equals an attr. Aliases are left out.
class Explanation {
  public:
    Explanation(const catalog::MachinePmus& machine, const abi::Attr& attr) : machine_(machine), attr_(attr) {}

    void search(const PmuRow& pmu) {
        for (int index = -1; (index = catalog::next_event(machine_, pmu, index)) >= 0;) {
            const EventRow& event = *catalog::event_at(machine_, pmu, static_cast<std::uint32_t>(index));
            if (event.equivalent == 0) search(pmu, event);
        }
    }
    std::vector<std::string> names;

  private:
    void search(const PmuRow& pmu, const EventRow& event) {
        const std::string name = std::string{catalog::text(pmu.name)} + "::" + std::string{catalog::name_of(event)};
        bool found = false;
        for (const MaskRow& mask : catalog::masks(event))
            if (catalog::model_has(pmu, mask) && catalog::rule(mask).equivalent == 0)
                found = add_if_same(name, catalog::name_of(mask)) || found;
        if (!found) add_if_same(name, "");  // no mask, or defaults of several groups
    }

    /// Encodes the name and compares what identifies an event in the attr. Flags are left out: they are modifiers.
    bool add_if_same(std::string name, std::string_view mask) {
        if (!mask.empty()) name += ':' + std::string{mask};
        catalog::Encoding encoding{machine_};
        constexpr unsigned kLevels = catalog::kPlmUser | catalog::kPlmKernel;
        if (catalog::encode(name, kLevels, catalog::Os::perf_ext, encoding).refused()) return false;
        const catalog::PerfFields& fields = encoding.perf;
        const bool same = fields.type == attr_.type && fields.config == attr_.config &&
                          fields.config1.value_or(0) == attr_.config1 && fields.config2.value_or(0) == attr_.config2;
        if (same) names.push_back(name);
        return same;
    }

    const catalog::MachinePmus& machine_;
    const abi::Attr& attr_;
};

}  // namespace

std::vector<std::string> EventNames::explain(const abi::Attr& attr, std::string_view pmu) const {
    Explanation explanation{data_->machine, attr};
    if (const PmuRow* row = pmu.empty() ? nullptr : resolve_pmu_name(pmu)) {
        explanation.search(*row);
    } else if (pmu.empty()) {
        for (const std::uint16_t index : data_->machine.active_pmus()) explanation.search(catalog::pmus()[index]);
    }
    return explanation.names;
}

}  // namespace anyperf::events
