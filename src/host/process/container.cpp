// container.cpp: which kind of container this process is in, by files that its runtime leaves. Each kind has its own
// way to permit perf_event_open, which is what a user needs to know. No sign is certain, so the evidence is shown.
#include "host/process/container.h"

#include <array>

namespace anyperf::host {

namespace {

constexpr std::string_view kDockerFix =
    "start the container with --cap-add=PERFMON (CAP_PERFMON also opens the default seccomp profile), or with "
    "--security-opt seccomp=PROFILE that allows perf_event_open";

constexpr std::array kKinds{
    ContainerKind{
        "kubernetes", "Kubernetes",
        "add PERFMON to securityContext.capabilities.add of the container; if it has a seccompProfile of its own, "
        "allow perf_event_open there"},
    ContainerKind{"docker", "Docker", kDockerFix},
    ContainerKind{"podman", "Podman", kDockerFix},
    ContainerKind{"lxc", "LXC", "allow perf_event_open in the seccomp profile (lxc.seccomp.profile) of the container"},
    ContainerKind{"systemd-nspawn", "systemd-nspawn",
                  "start the container with --system-call-filter=perf_event_open --capability=CAP_PERFMON"},
    ContainerKind{"gvisor", "gVisor",
                  "gVisor has no perf_event_open: run the container with another runtime, such as runc"},
    ContainerKind{
        "wsl", "WSL",
        "use WSL 2: its kernel has perf events, and the hypervisor decides whether there are hardware counters"},
    ContainerKind{"other", "a container", "allow perf_event_open where the container is configured"},
};

const ContainerKind* kind(std::string_view id) {
    for (const ContainerKind& row : kKinds)
        if (row.id == id) return &row;
    return nullptr;
}

/// A file, a text in it ("" if its existence is enough), and the kind of container that it is a sign of.
struct Sign {
    std::string_view file;
    std::string_view text;
    std::string_view kind;
};

/// In order of precedence: Kubernetes runs its containers with Docker or others, so its signs come first.
constexpr std::array kSigns{
    Sign{"/proc/version", "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016", "gvisor"},  // gVisor's fixed text
    Sign{"/var/run/secrets/kubernetes.io", "", "kubernetes"},
    Sign{"/proc/self/cgroup", "/kubepods", "kubernetes"},
    Sign{"/run/.containerenv", "", "podman"},
    Sign{"/proc/self/cgroup", "/libpod-", "podman"},
    Sign{"/.dockerenv", "", "docker"},
    Sign{"/proc/self/cgroup", "/docker/", "docker"},
    Sign{"/proc/self/cgroup", "/docker-", "docker"},
    Sign{"/proc/self/cgroup", "/lxc", "lxc"},
    Sign{"/run/systemd/container", "lxc", "lxc"},
    Sign{"/run/systemd/container", "systemd-nspawn", "systemd-nspawn"},
    Sign{"/run/systemd/container", "", "other"},
    Sign{"/proc/sys/kernel/osrelease", "icrosoft", "wsl"},
};

bool holds(const Root& root, const Sign& sign) {
    if (sign.text.empty()) return root.exists(sign.file);
    const auto text = root.read(sign.file);
    return text && text->find(sign.text) != text->npos;
}

/// The namespaces that the kernel starts with have fixed inode numbers (linux/proc_ns.h).
struct Namespace {
    std::string_view name;
    std::string_view initial;
};

constexpr std::array kNamespaces{
    Namespace{"cgroup", "cgroup:[4026531835]"},
    Namespace{"pid", "pid:[4026531836]"},
    Namespace{"user", "user:[4026531837]"},
};

}  // namespace

// The first sign decides. A container without any of these files is not recognised, but its namespaces may show it
// (own_namespaces()).
Container container(const Root& root) {
    for (const Sign& sign : kSigns) {
        if (!holds(root, sign)) continue;
        std::string evidence{sign.file};
        evidence += sign.text.empty() ? " exists" : " has '" + std::string{sign.text} + "'";
        return {kind(sign.kind), evidence};
    }
    return {};
}

std::string own_namespaces(const Root& root) {
    std::string names;
    for (const Namespace& row : kNamespaces) {
        const std::string link = root.link("/proc/self/ns/" + std::string{row.name});
        if (link.empty() || link == row.initial) continue;
        names += (names.empty() ? "" : ", ") + std::string{row.name};
    }
    return names;
}

}  // namespace anyperf::host
