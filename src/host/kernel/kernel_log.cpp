#include "host/kernel/kernel_log.h"

#include <sys/klog.h>

namespace anyperf::host {

namespace {

constexpr int kReadAll = 3;  // SYSLOG_ACTION_READ_ALL, syslog(2)
constexpr int kSize = 10;    // SYSLOG_ACTION_SIZE_BUFFER

/// The whole log; empty if it may not be read.
std::string kernel_log() {
    const int size = ::klogctl(kSize, nullptr, 0);
    if (size <= 0) return {};
    std::string text(static_cast<std::size_t>(size), '\0');
    const int got = ::klogctl(kReadAll, text.data(), size);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
}

}  // namespace

// A copy of another machine has a log only if somebody has put it into /var/log/dmesg.
std::string kernel_log_line(const Root& root, std::string_view text) {
    const std::string log = root.is_this_machine() ? kernel_log() : root.read("/var/log/dmesg").value_or("");
    const auto found = log.find(text);
    if (found == log.npos) return {};
    return log.substr(found, log.find('\n', found) - found);
}

}  // namespace anyperf::host
