// container.h: recognises the container that this process runs in by the files that container managers leave in it, and
// knows how each kind is configured to allow perf_event_open. A manager that leaves no sign is not recognised.
#pragma once

#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// A kind of container.
struct ContainerKind {
    std::string_view id;          ///< "docker"
    std::string_view name;        ///< "Docker"
    std::string_view allow_perf;  ///< what to do to allow perf_event_open in it, as a fix
};

/// What was recognised. Converts to false if nothing was.
struct Container {
    const ContainerKind* kind = nullptr;  ///< null: no sign of a container
    std::string evidence;                 ///< the file that is the sign, with the text found in it

    explicit operator bool() const { return kind != nullptr; }
};

/// From files below `root`; the first sign found decides.
Container container(const Root& root);

/// The kinds of namespaces (of cgroup, pid, user) in which this process is not in the machine's initial one: "pid,
/// user". Empty if it is in the initial one of each, or if they can't be read.
std::string own_namespaces(const Root& root);

}  // namespace anyperf::host
