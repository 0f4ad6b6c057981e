#include "host/kernel/sysctl.h"

#include <charconv>

namespace anyperf::host {

std::optional<long long> number_in(const Root& root, std::string_view absolute) {
    const auto text = root.read(absolute);
    if (!text) return std::nullopt;
    long long value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc{} || end == text->data()) return std::nullopt;
    return value;
}

std::optional<long long> kernel_setting(const Root& root, std::string_view name) {
    return number_in(root, "/proc/sys/kernel/" + std::string{name});
}

bool locked_down(const Root& root) {
    const auto state = root.read("/sys/kernel/security/lockdown");
    return state && state->contains("[confidentiality]");
}

}  // namespace anyperf::host
