// fuzz_event_names.cpp: any string, in every layer, with every PMU active. An accepted string must have a canonical
// string that encodes to the same codes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "events/catalog/encoding/encoding.h"

namespace {

using namespace anyperf::catalog;

const MachinePmus& machine() {
    static const MachinePmus all{DetectionOptions{.encode_inactive = true}};
    return all;
}

void require(bool holds) {
    if (!holds) std::abort();
}

bool same_codes(const Codes& left, const Codes& right) {
    if (left.count != right.count) return false;
    for (std::size_t i = 0; i < left.count; ++i)
        if (left.codes[i] != right.codes[i]) return false;
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const unsigned plm = data[0] & 0x19U;
    const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
    for (const Os os : {Os::none, Os::perf, Os::perf_ext}) {
        Encoding encoding{machine()};
        const Refusal refusal = encode(text, plm, os, encoding);
        require(refusal.refused() == (refusal.code != ErrorCode::success));
        if (refusal.refused()) continue;
        std::string canonical(kCanonicalBytes, '\0');
        anyperf::abi::Attr attr;
        if (os != Os::none) encoding.perf.apply(attr);
        canonical.resize(encoding.canonical(canonical, &attr));
        require(encoding.codes.count >= 1);
        if (os != Os::none || canonical.empty()) continue;
        // As in libpfm, a filter that is printed as 0 enables the box's filter when it is parsed.
        if (encoding.request.pmu->modset == Modset::snbep_unc) continue;
        Encoding again{machine()};
        if (encode(canonical, plm, os, again).refused()) continue;  // unit masks that can't be written in one string
        require(same_codes(encoding.codes, again.codes));
    }
    return 0;
}
