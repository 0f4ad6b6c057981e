// open_failure_test.cpp: for each errno that can be provoked on the running kernel, the message names the actual cause.
#include "host/open_failure.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "host/child.h"
#include "host/kernel/sysctl.h"

namespace anyperf::host {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr unsigned long kPidCgroup = 4;

bool is_root() {
    return ::geteuid() == 0;
}

/// A process that waits until the destructor kills it.
class Sleeper {
  public:
    explicit Sleeper(void (*prepare)() = nullptr) {
        std::array<int, 2> ready{};
        if (::pipe(ready.data()) != 0) return;
        pid_ = ::fork();
        if (pid_ == 0) {
            if (prepare != nullptr) prepare();
            ::close(ready[0]);
            ::close(ready[1]);
            for (;;) ::pause();
        }
        ::close(ready[1]);
        char byte = 0;
        [[maybe_unused]] const ssize_t at_end = ::read(ready[0], &byte, 1);
        ::close(ready[0]);
    }
    ~Sleeper() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = -1;
};

/// The failure in a child whose seccomp filter, as in a container, makes perf_event_open fail with `errno_value`.
std::string under_seccomp(int errno_value) {
    return in_child([errno_value] {
        std::array filter{
            sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
            sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
            sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(errno_value)),
            sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const sock_fprog program{filter.size(), filter.data()};
        if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            return std::string{"no seccomp"};
        return open_failure(dummy());
    });
}

TEST(OpenFailure, EpermUnderASeccompFilterNamesTheFilter) {
    EXPECT_THAT(under_seccomp(EPERM), AllOf(StartsWith("EPERM: a seccomp filter"), HasSubstr("seccomp mode 2")));
}

TEST(OpenFailure, EaccesUnderASeccompFilterNamesTheFilter) {
    EXPECT_THAT(under_seccomp(EACCES), StartsWith("EACCES: a seccomp filter"));
}

TEST(OpenFailure, EnosysUnderASeccompFilterNamesTheFilter) {
    EXPECT_THAT(under_seccomp(ENOSYS), StartsWith("ENOSYS: a seccomp filter"));
}

TEST(OpenFailure, EaccesForKernelModeNamesTheParanoidLevel) {
    const auto level = kernel_setting(Root{}, "perf_event_paranoid");
    if (!is_root() || level != 2) GTEST_SKIP() << "needs root, to become nobody, and paranoid level 2";
    OpenCall call = dummy();
    call.attr.flags = 1;
    EXPECT_THAT(open_failure_as_nobody(call),
                AllOf(StartsWith("EACCES: dummy counts kernel mode too"), HasSubstr("perf_event_paranoid is 2"),
                      HasSubstr("uid 65534 without CAP_PERFMON"), HasSubstr("dummy:u")));
}

TEST(OpenFailure, EaccesForAWholeCpuNamesTheSysctl) {
    if (!is_root() || kernel_setting(Root{}, "perf_event_paranoid") != 2) GTEST_SKIP() << "needs root and level 2";
    OpenCall call = dummy();
    call.pid = -1;
    call.cpu = 0;
    EXPECT_THAT(open_failure_as_nobody(call),
                AllOf(StartsWith("EACCES: counting a whole CPU"), HasSubstr("sysctl kernel.perf_event_paranoid=0")));
}

TEST(OpenFailure, EaccesForPhysicalAddressesNamesThem) {
    if (!is_root() || kernel_setting(Root{}, "perf_event_paranoid") != 2) GTEST_SKIP() << "needs root and level 2";
    OpenCall call = dummy();
    call.attr.sample_period = 1;
    call.attr.sample_type = 1 << 19;
    EXPECT_THAT(open_failure_as_nobody(call), HasSubstr("physical addresses"));
}

TEST(OpenFailure, EaccesForNamespaceRecordsNamesTheAttrBit) {
    if (!is_root()) GTEST_SKIP() << "needs root, to become nobody";
    OpenCall call = dummy();
    call.attr.flags |= 1 << 28;
    EXPECT_THAT(open_failure_as_nobody(call), HasSubstr("attr.namespaces"));
}

TEST(OpenFailure, EaccesForAnotherUsersProcessNamesTheOwner) {
    if (!is_root()) GTEST_SKIP() << "needs root, for a process that belongs to root";
    const Sleeper sleeper;
    OpenCall call = dummy();
    call.pid = sleeper.pid();
    EXPECT_THAT(open_failure_as_nobody(call),
                AllOf(StartsWith("EACCES: process " + std::to_string(sleeper.pid())), HasSubstr("belongs to uid 0")));
}

TEST(OpenFailure, EaccesForAnUndumpableProcessSaysSo) {
    if (!is_root()) GTEST_SKIP() << "needs root, to become nobody";
    const Sleeper sleeper{[] {
        become_nobody();
        ::prctl(PR_SET_DUMPABLE, 0);
    }};
    OpenCall call = dummy();
    call.pid = sleeper.pid();
    EXPECT_THAT(open_failure_as_nobody(call), HasSubstr("is not dumpable"));
}

TEST(OpenFailure, EaccesInAUserNamespaceSaysThatItsCapabilitiesDoNotCount) {
    if (kernel_setting(Root{}, "perf_event_paranoid") != 2) GTEST_SKIP() << "needs paranoid level 2";
    const std::string found = in_child([]() -> std::string {
        if (::unshare(CLONE_NEWUSER) != 0) return "no user namespaces";
        OpenCall call = dummy();
        call.attr.flags = 1;
        return open_failure(call);
    });
    if (found == "no user namespaces") GTEST_SKIP() << "user namespaces are not allowed here";
    EXPECT_THAT(found, AllOf(StartsWith("EACCES"), HasSubstr("capabilities that count in its user namespace only")));
}

TEST(OpenFailure, EpermForTracepointDataNamesTheSampleBit) {
    if (!is_root() || kernel_setting(Root{}, "perf_event_paranoid") != 2) GTEST_SKIP() << "needs root and level 2";
    OpenCall call = dummy();
    call.attr.type = 2;
    call.attr.sample_period = 1;
    call.attr.sample_type = 1 << 10;
    std::string found;
    for (call.attr.config = 1; call.attr.config < 2000 && !found.starts_with("EPERM"); ++call.attr.config)
        if (const int fd = open_event(call); fd >= 0) {
            ::close(fd);
            found = open_failure_as_nobody(call);
        }
    if (!found.starts_with("EPERM")) GTEST_SKIP() << "this kernel has no tracepoints";
    EXPECT_THAT(found, HasSubstr("tracepoint's data (PERF_SAMPLE_RAW)"));
}

TEST(OpenFailure, EmfileNamesTheLimit) {
    const std::string found = in_child([] {
        const rlimit few{20, 20};
        ::setrlimit(RLIMIT_NOFILE, &few);
        while (::dup(0) >= 0) {
        }
        return open_failure(dummy());
    });
    EXPECT_THAT(found, AllOf(StartsWith("EMFILE"), HasSubstr("RLIMIT_NOFILE is 20")));
}

TEST(OpenFailure, EsrchForAnAbsentPidSaysThatItDoesNotExist) {
    OpenCall call = dummy();
    call.pid = 0x7ffffffe;
    EXPECT_THAT(open_failure(call), AllOf(StartsWith("ESRCH"), HasSubstr("/proc/2147483646 does not exist")));
}

TEST(OpenFailure, EsrchForANegativePidNamesIt) {
    OpenCall call = dummy();
    call.pid = -5;
    EXPECT_THAT(open_failure(call), HasSubstr("-5 is not a process id"));
}

TEST(OpenFailure, EsrchForAZombieSaysThatItHasExited) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    siginfo_t info;
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    OpenCall call = dummy();
    call.pid = child;
    EXPECT_THAT(open_failure(call), AllOf(StartsWith("ESRCH"), HasSubstr("has exited (state Z")));
    ::waitpid(child, nullptr, 0);
}

TEST(OpenFailure, EbadfForAClosedGroupFdNamesIt) {
    OpenCall call = dummy();
    call.group_fd = 9999;
    EXPECT_THAT(open_failure(call), AllOf(StartsWith("EBADF"), HasSubstr("group_fd 9999 is not an open descriptor")));
}

TEST(OpenFailure, EbadfForAGroupFdThatIsNotAnEventNamesTheFile) {
    OpenCall call = dummy();
    call.group_fd = ::open("/dev/null", O_RDONLY);
    EXPECT_THAT(open_failure(call), HasSubstr("is not a performance event but /dev/null"));
    ::close(call.group_fd);
}

TEST(OpenFailure, EbadfForADirectoryThatIsNotACgroupNamesIt) {
    if (!is_root()) GTEST_SKIP() << "needs root: cgroups are counted CPU-wide";
    OpenCall call = dummy();
    call.flags = kPidCgroup;
    call.cpu = 0;
    call.pid = ::open("/tmp", O_RDONLY | O_DIRECTORY);
    EXPECT_THAT(open_failure(call), AllOf(StartsWith("EBADF"), HasSubstr("/tmp is not in a cgroup file system")));
    ::close(call.pid);
}

TEST(OpenFailure, E2bigNamesTheFieldsUnknownToTheKernel) {
    OpenCall call = dummy();
    call.attr.size = 144;
    call.attr.config4 = 1;
    const std::string found = open_failure(call);
    if (found.empty() || found.starts_with("EINVAL")) GTEST_SKIP() << "this kernel knows config4";
    EXPECT_THAT(found, AllOf(StartsWith("E2BIG"), HasSubstr("config4")));
}

TEST(OpenFailure, E2bigForAnInvalidAttrSizeNamesIt) {
    OpenCall call = dummy();
    call.attr.size = 60;
    EXPECT_THAT(open_failure(call), HasSubstr("attr.size is 60"));
}

// The first word of a read is the number of members only with PERF_FORMAT_GROUP; the leader here has none, and its
// first word is a count.
TEST(OpenFailure, E2bigDoesNotTakeACountForTheSizeOfTheGroup) {
    const std::string found = in_child([]() -> std::string {
        OpenCall call = dummy();
        call.attr.config = 1;  // task-clock: its count is never 0
        call.group_fd = -1;
        call.group_fd = open_event(call);
        if (call.group_fd < 0) return "cannot open the leader";
        call.attr.config = 9;
        for (int i = 0; i < 700; ++i)  // 700 × (value, id, lost) is more than 16 KiB
            if (open_event(call) < 0) return "SKIP";
        call.attr.read_format = 1 << 2 | 1 << 3 | 1 << 4;  // ID, GROUP, LOST
        return open_failure(call);
    });
    if (found == "SKIP") GTEST_SKIP() << "the limit on descriptors is too low for 700 events";
    if (found.starts_with("EINVAL")) GTEST_SKIP() << "this kernel doesn't know PERF_FORMAT_LOST";
    EXPECT_THAT(found, AllOf(StartsWith("E2BIG"), HasSubstr("not in this group:")));
}

TEST(OpenFailure, EoverflowNamesTheLimitOfCallChains) {
    OpenCall call = dummy();
    call.attr.sample_period = 1;
    call.attr.sample_type = 1 << 5;
    call.attr.sample_max_stack = 60000;
    EXPECT_THAT(open_failure(call), AllOf(StartsWith("EOVERFLOW"), HasSubstr("perf_event_max_stack is ")));
}

TEST(OpenFailure, EnospcSaysThatAllBreakpointsAreTaken) {
    OpenCall call = dummy();
    static long watched = 0;
    call.attr.type = 5;
    call.attr.config = 0;
    call.attr.bp_type = 2;
    call.attr.config1 = reinterpret_cast<std::uintptr_t>(&watched);
    call.attr.config2 = 8;
    const std::string found = in_child([&call] {
        while (open_event(call) >= 0) {
        }
        return open_failure(call);
    });
    EXPECT_THAT(found, AllOf(StartsWith("ENOSPC"), HasSubstr("all hardware breakpoints of the task are in use")));
}

TEST(OpenFailure, EnoentForAnUnknownTypeNamesIt) {
    OpenCall call = dummy();
    call.attr.type = 7777;
    EXPECT_THAT(open_failure(call), AllOf(StartsWith("ENOENT"), HasSubstr("no PMU of this machine has type 7777")));
}

TEST(OpenFailure, EnoentForAnUnknownSoftwareEventNamesIt) {
    OpenCall call = dummy();
    call.attr.config = 99;
    EXPECT_THAT(open_failure(call), HasSubstr("no software event 99"));
}

TEST(OpenFailure, EnoentForCyclesSaysThatThereIsNoPmu) {
    OpenCall call = dummy();
    call.attr.type = 0;
    call.attr.config = 0;
    const std::string found = open_failure(call);
    if (!found.starts_with("ENOENT")) GTEST_SKIP() << "this machine counts cycles";
    EXPECT_THAT(found, AllOf(HasSubstr("has no hardware PMU"), HasSubstr("/sys/bus/event_source/devices")));
}

TEST(OpenFailure, EopnotsuppForABranchStackNamesIt) {
    OpenCall call = dummy();
    call.attr.sample_period = 1;
    call.attr.sample_type = 1 << 11;
    call.attr.branch_sample_type = 1 | 1 << 3;
    EXPECT_THAT(open_failure(call), AllOf(StartsWith("EOPNOTSUPP"), HasSubstr("PERF_SAMPLE_BRANCH_STACK")));
}

TEST(OpenFailure, EfaultForABadProbePointerNamesTheField) {
    const auto type = number_in(Root{}, "/sys/bus/event_source/devices/uprobe/type");
    if (!is_root() || !type) GTEST_SKIP() << "needs root and uprobes";
    OpenCall call = dummy();
    call.attr.type = static_cast<std::uint32_t>(*type);
    call.attr.config = 0;
    call.attr.config1 = 8;
    EXPECT_THAT(open_failure(call), AllOf(StartsWith("EFAULT"), HasSubstr("config1 (0x8)")));
}

}  // namespace
}  // namespace anyperf::host
