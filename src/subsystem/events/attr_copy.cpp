#include "subsystem/events/attr_copy.h"

#include <algorithm>
#include <cstring>

#include "abi/attr_sizes.h"

namespace anyperf::subsystem {
namespace {

/// E2BIG with the size of the structure in Linux 6.18, which the caller gets in attr.size (perf_copy_attr(), err_size).
Answer<abi::Attr> wrong_size(std::string_view reason) {
    return std::unexpected(Refusal{E2BIG, reason, kAttrBytes});
}

}  // namespace

Answer<abi::Attr> copy_attr(std::span<const std::byte> readable) {
    constexpr std::size_t size_at = offsetof(abi::Attr, size);
    if (readable.size() < size_at + sizeof(abi::Attr::size)) return refuse(EFAULT, "attr.size can't be read");
    std::uint32_t size = 0;
    std::memcpy(&size, readable.data() + size_at, sizeof size);
    if (size == 0) size = abi::kAttrSizes.front().bytes;
    if (size < abi::kAttrSizes.front().bytes)
        return wrong_size("attr.size is less than 64, the size of the first version");
    if (size > kLongestAttr) return wrong_size("attr.size is more than a page");

    // The kernel scans the bytes after the known fields first. So a byte there that is not 0 (E2BIG) counts before
    // bytes after it that can't be read (EFAULT).
    const std::size_t end = std::min<std::size_t>(size, readable.size());
    for (std::size_t at = kAttrBytes; at < end; ++at)
        if (readable[at] != std::byte{}) return wrong_size("attr has a field set that Linux 6.18 does not know");
    if (readable.size() < size) return refuse(EFAULT, "attr can't be read up to attr.size");

    abi::Attr attr;
    std::memcpy(&attr, readable.data(), std::min(size, kAttrBytes));
    attr.size = size;
    return attr;
}

}  // namespace anyperf::subsystem
