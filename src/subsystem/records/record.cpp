// record.cpp: side-band records are rare and are written by the broker, so they are built in a vector and then copied.
// Samples are written by the measured thread straight into the ring (shared/sample.cpp).
#include "subsystem/records/record.h"

namespace anyperf::subsystem {

Record& Record::bytes(const void* from, std::size_t count) {
    const auto* first = static_cast<const std::byte*>(from);
    body_.insert(body_.end(), first, first + count);
    return *this;
}

Record& Record::padding() {
    body_.resize((body_.size() + 7) & ~std::size_t{7});
    return *this;
}

Record& Record::name(std::string_view text) {
    bytes(text.data(), text.size());
    body_.push_back(std::byte{0});
    return padding();
}

}  // namespace anyperf::subsystem
