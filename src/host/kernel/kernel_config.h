// kernel_config.h: the options that the kernel was built with, from the file in which distributions keep them. Not
// every machine has such a file.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// The options that are set.
struct KernelConfig {
    std::string source;  ///< the file that they were read from; empty if no file has any
    std::map<std::string, std::string, std::less<>>
        options;  ///< "CONFIG_PERF_EVENTS" -> "y"; options that are not set are absent

    /// Whether the option is built in or a module.
    bool has(std::string_view option) const;
};

/// From the first of these that has options: /proc/config.gz, /boot/config-RELEASE, /lib/modules/RELEASE/config.
KernelConfig kernel_config(const Root& root);

}  // namespace anyperf::host
