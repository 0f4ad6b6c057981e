// kernel_objects.cpp: finds a cgroup's path by its mount, and a BPF program's functions by bpf(2).
//
// The program passes a descriptor, which cannot be forged. A name or a number could be that of another object.
#include "broker/host/kernel_objects.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <fstream>
#include <ranges>
#include <sstream>
#include <string_view>

#include "abi/constant.h"
#include "abi/records.h"

namespace anyperf::broker {

namespace {

// ---- cgroups ----

/// The fields of a line of /proc/self/mountinfo (proc(5)) that are used here.
struct Mount {
    std::string root;   ///< the directory of the file system that is mounted
    std::string point;  ///< where it is mounted
    std::string type;
    std::string options;  ///< of the file system; those of a v1 hierarchy list its controllers
};

std::optional<Mount> mount_of(std::uint64_t wanted) {
    std::ifstream mounts{"/proc/self/mountinfo"};
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words{line};
        std::uint64_t id = 0;
        std::string parent, device, word;
        Mount mount;
        if (!(words >> id >> parent >> device >> mount.root >> mount.point) || id != wanted) continue;
        while (words >> word && word != "-") {
        }
        std::string source;
        words >> mount.type >> source >> mount.options;
        return mount;
    }
    return std::nullopt;
}

std::uint64_t mount_id(int descriptor) {
    std::ifstream facts{"/proc/self/fdinfo/" + std::to_string(descriptor)};
    std::string name;
    for (std::uint64_t value = 0; facts >> name >> value;)
        if (name == "mnt_id:") return value;
    return 0;
}

bool has_word(std::string_view list, std::string_view wanted) {
    return std::ranges::any_of(list | std::views::split(','),
                               [&](auto one) { return std::ranges::equal(one, wanted); });
}

/// Whether the perf_event controller is in a v1 hierarchy. Otherwise it is in cgroup2 (cgroups(7)).
bool perf_event_is_of_v1() {
    std::ifstream memberships{"/proc/self/cgroup"};
    for (std::string line; std::getline(memberships, line);) {
        const auto first = line.find(':');
        const auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        if (has_word(std::string_view{line}.substr(first + 1, second - first - 1), "perf_event")) return true;
    }
    return false;
}

bool has_perf_event(const Mount& mount) {
    if (mount.type == "cgroup") return has_word(mount.options, "perf_event");
    return mount.type == "cgroup2" && !perf_event_is_of_v1();
}

std::string path_of(int descriptor) {
    std::string path(PATH_MAX, '\0');
    const ssize_t got = ::readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path.data(), path.size());
    path.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return path;
}

// ---- BPF programs ----

using BpfTag = std::array<std::uint8_t, BPF_TAG_SIZE>;

bool get_info(int descriptor, bpf_prog_info& info) {
    bpf_attr question{};
    question.info.bpf_fd = static_cast<std::uint32_t>(descriptor);
    question.info.info_len = sizeof info;
    question.info.info = reinterpret_cast<std::uint64_t>(&info);
    return ::syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &question, sizeof question) == 0;
}

/// The name as bpf_get_prog_name() of Linux 6.18 makes it, with the name of the program (at most 15 characters). For a
/// function with type information (BTF) the kernel uses the full name of the function instead.
std::string symbol_of(const BpfTag& tag, std::string_view program) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string name = "bpf_prog_";
    for (const std::uint8_t byte : tag) {
        name += kDigits[byte >> 4];
        name += kDigits[byte & 15];
    }
    if (!program.empty()) name.append("_").append(program);
    return name;
}

}  // namespace

std::optional<MadeCgroup> cgroup_at(int directory) {
    // The mount is checked before fstat is called. A program may send any descriptor, and the server of a FUSE file
    // system could leave an fstat unanswered.
    if (directory < 0) return std::nullopt;
    const auto mount = mount_of(mount_id(directory));
    if (!mount || !has_perf_event(*mount)) return std::nullopt;
    struct stat about{};
    if (::fstat(directory, &about) != 0 || !S_ISDIR(about.st_mode)) return std::nullopt;
    std::string path = path_of(directory);
    if (path.starts_with(mount->point)) path.erase(0, mount->point.size());
    if (mount->root != "/") path.insert(0, mount->root);
    return MadeCgroup{about.st_dev, about.st_ino, path.empty() ? "/" : path};
}

std::vector<subsystem::KernelSymbol> LoadedBpf::symbols() const {
    constexpr auto kBpf = static_cast<std::uint16_t>(abi::value_of(abi::kKsymbolTypes, "PERF_RECORD_KSYMBOL_TYPE_BPF"));
    std::vector<subsystem::KernelSymbol> all;
    all.reserve(functions.size());
    for (const BpfFunction& one : functions) all.push_back({one.address, one.bytes, kBpf, false, one.name});
    return all;
}

std::optional<LoadedBpf> bpf_program(int descriptor) {
    constexpr std::uint32_t kMostFunctions = 256;  // BPF_MAX_SUBPROGS of the kernel
    bpf_prog_info info{};
    if (descriptor < 0 || !get_info(descriptor, info)) return std::nullopt;
    const std::uint32_t count = std::clamp(info.nr_jited_ksyms, 1U, kMostFunctions);
    // The second query fills in the arrays that the first one gave the length of.
    std::vector<std::uint64_t> addresses(count);
    std::vector<std::uint32_t> bytes(count);
    std::vector<BpfTag> tags(count);
    bpf_prog_info all{};
    all.nr_jited_ksyms = all.nr_jited_func_lens = all.nr_prog_tags = count;
    all.jited_ksyms = reinterpret_cast<std::uint64_t>(addresses.data());
    all.jited_func_lens = reinterpret_cast<std::uint64_t>(bytes.data());
    all.prog_tags = reinterpret_cast<std::uint64_t>(tags.data());
    if (!get_info(descriptor, all)) return std::nullopt;
    LoadedBpf loaded;
    loaded.program.type = static_cast<std::uint16_t>(abi::value_of(abi::kBpfEventTypes, "PERF_BPF_EVENT_PROG_LOAD"));
    loaded.program.id = all.id;
    std::ranges::transform(all.tag, loaded.program.tag.begin(), [](std::uint8_t byte) { return std::byte{byte}; });
    const std::string_view name{all.name, ::strnlen(all.name, sizeof all.name)};
    std::ranges::copy(all.tag, tags[0].begin());  // the first function has the program's tag
    for (std::uint32_t i = 0; i < count; ++i)
        loaded.functions.push_back({addresses[i], bytes[i], symbol_of(tags[i], name)});
    return loaded;
}

}  // namespace anyperf::broker
