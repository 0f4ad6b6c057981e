// kernel_config.h: the options a kernel was built with, where it tells.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

struct KernelConfig {
    std::string source;  ///< the file; empty: none can be read
    std::map<std::string, std::string, std::less<>>
        options;  ///< "CONFIG_PERF_EVENTS" -> "y"; what is not set is absent

    /// Built in or as a module.
    bool has(std::string_view option) const;
};

/// From /proc/config.gz, else /boot/config-RELEASE, else /lib/modules/RELEASE/config.
KernelConfig kernel_config(const Root& root);

}  // namespace anyperf::host
