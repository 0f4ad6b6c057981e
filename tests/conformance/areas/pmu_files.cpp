// pmu_files.cpp: the directories of PMUs in sysfs as programs reach them: as their working directory, by descriptors,
// by links and by listings; and the settings in /proc/sys/kernel ("perf_event related configuration files" of the
// manual).
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <memory>

#include "areas/areas.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/workload.h"

namespace conformance {

namespace {

constexpr const char* kPmus = "/sys/bus/event_source/devices";

/// A PMU that a case looks at: `name`, and the first line of its file `type`.
struct Pmu {
    const char* name;
    const char* type;
    unsigned needs;

    std::string link() const { return std::string{kPmus} + "/" + name; }
    std::string device() const { return std::string{"/sys/devices/"} + name; }
};

constexpr std::array kLookedAt{Pmu{"software", "1\n", kNothing}, Pmu{"cpu", "4\n", kHardware}};

void change_directory(const std::string& path) {
    want_success("chdir " + path, or_errno(::chdir(path.c_str())));
}

std::string working_directory() {
    char path[PATH_MAX];
    want("getcwd succeeds", ::getcwd(path, sizeof path) != nullptr);
    return path;
}

std::string link_target(const std::string& path) {
    char target[PATH_MAX];
    const long length = want_success("readlink " + path, or_errno(::readlink(path.c_str(), target, sizeof target)));
    return {target, static_cast<std::size_t>(length)};
}

std::string text_below(int directory, const char* name) {
    const int file = ::openat(directory, name, O_RDONLY);
    want_success(std::string{"openat "} + name, or_errno(file));
    char text[64];
    const long length = or_errno(::read(file, text, sizeof text));
    ::close(file);
    want_success(std::string{"read "} + name, length);
    return {text, static_cast<std::size_t>(length)};
}

std::vector<std::string> names_in(const char* path) {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory{::opendir(path), ::closedir};
    want(std::string{path} + " can be listed", directory != nullptr);
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(directory.get())) names.emplace_back(entry->d_name);
    return names;
}

bool has_name(const std::vector<std::string>& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void relative_files(const Pmu& pmu) {
    change_directory(pmu.link());
    want_equal("type", read_text("type"), pmu.type);
    struct stat about{};
    want_success("stat uevent", or_errno(::stat("uevent", &about)));
    want_result("open of a file that does not exist", or_errno(::open("no_such_file", O_RDONLY)), ENOENT);
}

void working_directory_is_the_device(const Pmu& pmu) {
    change_directory(pmu.link());
    want_equal("getcwd", working_directory(), pmu.device());
    want_equal("/proc/self/cwd", link_target("/proc/self/cwd"), pmu.device());
    char small[8];
    errno = 0;
    want("a buffer that is too small is refused", ::getcwd(small, sizeof small) == nullptr && errno == ERANGE);
    change_directory(kPmus);
    want_equal("getcwd", working_directory(), kPmus);
}

void leaves_upwards(const Pmu& pmu) {
    change_directory(pmu.link());
    change_directory("..");
    want_equal("getcwd", working_directory(), "/sys/devices");
    want("/sys/devices has its other directories", has_name(names_in("."), "system"));
    change_directory(kPmus);
    change_directory("../../..");
    want_equal("getcwd", working_directory(), "/sys");
    change_directory(kPmus);
    change_directory("../../../../proc/self");
    want_equal("getcwd", working_directory(), "/proc/" + std::to_string(::getpid()));
}

void relative_change(const Pmu& pmu) {
    change_directory(kPmus);
    change_directory(pmu.name);
    want_equal("getcwd", working_directory(), pmu.device());
    change_directory("./.");
    want_equal("getcwd", working_directory(), pmu.device());
}

void descriptor_of_directory(const Pmu& pmu) {
    const int directory = ::open(pmu.link().c_str(), O_RDONLY | O_DIRECTORY);
    if (directory < 0) throw Failure{"open of the directory: " + errno_name(errno)};
    want_equal("type", text_below(directory, "type"), pmu.type);
    want_equal("the descriptor's link", link_target("/proc/self/fd/" + std::to_string(directory)), pmu.device());
    want_success("fchdir", or_errno(::fchdir(directory)));
    want_equal("getcwd", working_directory(), pmu.device());
    want_equal("type", read_text("type"), pmu.type);
    ::close(directory);
}

void real_path(const Pmu& pmu) {
    const std::unique_ptr<char, void (*)(void*)> path{::realpath(pmu.link().c_str(), nullptr), std::free};
    want("realpath succeeds", path != nullptr);
    want_equal("realpath", std::string{path.get()}, pmu.device());
    change_directory(pmu.link());
    const std::unique_ptr<char, void (*)(void*)> relative{::realpath("type", nullptr), std::free};
    want("realpath succeeds", relative != nullptr);
    want_equal("realpath", std::string{relative.get()}, pmu.device() + "/type");
    want_equal("the PMU's link", link_target(pmu.link()), std::string{"../../../devices/"} + pmu.name);
}

void inherited(const Pmu& pmu) {
    change_directory(pmu.link());
    in_checked_child([&pmu] {
        want_equal("getcwd", working_directory(), pmu.device());
        want_equal("type", read_text("type"), pmu.type);
    });
}

/// A statement about each PMU, and its check.
struct Statement {
    const char* name;
    const char* text;
    void (*check)(const Pmu&);
};

constexpr std::array kStatements{
    Statement{"relative", "its directory can be the working directory, with paths relative to it", relative_files},
    Statement{"working_directory", "the path of that working directory is the device's, without the link",
              working_directory_is_the_device},
    Statement{"upwards", "a relative path leads from it to the directories above", leaves_upwards},
    Statement{"relative_change", "a relative path leads to it from the list of PMUs", relative_change},
    Statement{"descriptor", "a descriptor of the directory serves openat and fchdir, and its link names the device",
              descriptor_of_directory},
    Statement{"realpath", "its real path is in /sys/devices", real_path},
    Statement{"inherited", "a child begins in its parent's working directory", inherited},
};

/// A text that a setting refuses. A refused write changes nothing, so these cases may run on any machine.
struct RefusedText {
    const char* setting;
    const char* name;
    const char* text;
};

constexpr std::array kRefused{
    RefusedText{"perf_event_paranoid", "a_letter", "x\n"},
    RefusedText{"perf_event_paranoid", "an_empty_line", "\n"},
    RefusedText{"perf_event_paranoid", "a_number_beyond_int", "99999999999\n"},
    RefusedText{"perf_event_paranoid", "a_letter_after_the_number", "2x\n"},
    RefusedText{"perf_event_mlock_kb", "a_letter", "x\n"},
    RefusedText{"perf_event_max_sample_rate", "zero", "0\n"},
    RefusedText{"perf_event_max_sample_rate", "a_negative_number", "-1\n"},
    RefusedText{"perf_cpu_time_max_percent", "more_than_100", "101\n"},
    RefusedText{"perf_cpu_time_max_percent", "a_negative_number", "-1\n"},
    RefusedText{"perf_event_max_stack", "a_negative_number", "-1\n"},
    RefusedText{"perf_event_max_stack", "more_than_640_k", "655361\n"},
    RefusedText{"perf_event_max_contexts_per_stack", "more_than_1000", "1001\n"},
    RefusedText{"perf_event_max_contexts_per_stack", "a_negative_number", "-1\n"},
};

std::string setting_path(const char* name) {
    return std::string{"/proc/sys/kernel/"} + name;
}

/// Writes as a shell's redirection does.
long write_setting(const char* name, const std::string& text) {
    const int file = ::open(setting_path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    want_success("open", or_errno(file));
    const long written = or_errno(::write(file, text.data(), text.size()));
    ::close(file);
    return written;
}

void refuse_text(const RefusedText& row) {
    const std::string before = read_text(setting_path(row.setting));
    want_result("write", write_setting(row.setting, row.text), EINVAL);
    want_equal("the setting afterwards", read_text(setting_path(row.setting)), before);
}

void takes_spaces() {
    const std::string before = read_text(setting_path("perf_event_paranoid"));
    const std::string text = " \t" + before.substr(0, before.size() - 1) + "  \n";
    want_equal("write", write_setting("perf_event_paranoid", text), static_cast<long>(text.size()));
    want_equal("the setting afterwards", read_text(setting_path("perf_event_paranoid")), before);
}

void opened_for_both() {
    const std::string before = read_text(setting_path("perf_event_paranoid"));
    const int file = ::open(setting_path("perf_event_paranoid").c_str(), O_RDWR | O_TRUNC);
    want_success("open", or_errno(file));
    want_equal("the setting after an open that truncates", read_text(setting_path("perf_event_paranoid")), before);
    want_equal("write", or_errno(::write(file, before.data(), before.size())), static_cast<long>(before.size()));
    ::close(file);
    want_equal("the setting afterwards", read_text(setting_path("perf_event_paranoid")), before);
}

}  // namespace

std::vector<Case> pmu_file_cases() {
    std::vector<Case> cases{{"listing", "the PMUs are listed in /sys/bus/event_source/devices", kNothing, [] {
                                 for (const char* pmu : {"software", "tracepoint", "breakpoint"})
                                     want(pmu, has_name(names_in(kPmus), pmu));
                             }}};
    for (const Statement& row : kStatements)
        for (const Pmu& pmu : kLookedAt)
            cases.push_back({std::string{row.name} + "." + pmu.name, std::string{"PMU "} + pmu.name + ": " + row.text,
                             pmu.needs, [&row, &pmu] { row.check(pmu); }});
    for (const RefusedText& row : kRefused)
        cases.push_back({std::string{"setting."} + row.setting + "." + row.name,
                         std::string{row.setting} + " refuses " + in_words(row.name) + ", and stays as it was", kRoot,
                         [&row] { refuse_text(row); }});
    append(cases, {
                      {"setting.spaces", "spaces around the number of a setting are left out", kRoot, takes_spaces},
                      {"setting.read_write", "a setting can be opened for reading and writing; O_TRUNC does nothing",
                       kRoot, opened_for_both},
                  });
    return cases;
}

}  // namespace conformance
