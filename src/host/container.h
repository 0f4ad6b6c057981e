// container.h: what this process is confined in, as far as it can be seen from inside.
#pragma once

#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// A way of confining processes, and how its user lets perf_event_open through.
struct ContainerKind {
    std::string_view id;    ///< "docker"
    std::string_view name;  ///< "Docker"
    std::string_view allow_perf;
};

struct Container {
    const ContainerKind* kind = nullptr;  ///< null: no sign of a container
    std::string evidence;                 ///< the file that tells, and what it says

    explicit operator bool() const { return kind != nullptr; }
};

Container container(const Root& root);

/// Signs of a namespace of its own: "pid, user". Empty where all are those the machine started with, or can't be read.
std::string own_namespaces(const Root& root);

}  // namespace anyperf::host
