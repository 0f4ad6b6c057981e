// attacks.cpp: a program of a run that attacks the run: it has the run's memory and the broker's socket, as every
// program has, and writes and sends there what it likes. The argument selects the attack; a line of output "NAME VALUE"
// is a result that attacks_test.py checks.
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include "program_of_a_run.h"
#include "run/made_files.h"

namespace {

using namespace anyperf;
using namespace anyperf::attacks;

/// An innocent program: what it counts must be what it counts in a run without attacks.
int count() {
    const int event = open_event(instructions());
    const std::uint64_t once = counted(event, 100'000);
    say("difference", static_cast<long>(counted(event, 300'000) - once));
    const pid_t child = ::fork();
    if (child == 0) ::_exit(open_event(instructions(1000)) < 0 ? 1 : 0);
    int status = -1;
    ::waitpid(child, &status, 0);
    say("child", status);
    return event < 0 ? 1 : 0;
}

// ---- scribbling ----

struct Part {
    const char* name;
    std::size_t offset;
    std::size_t bytes;  // that are in use
};
constexpr Part kParts[] = {
    {"process records", run::kProcessesOffset, sizeof(run::ProcessRecord) * 32},
    {"thread records", run::kThreadsOffset, sizeof(run::ThreadRecord) * 32},
    {"thread pages", run::kThreadPagesOffset, sizeof(run::ThreadPage) * 16},
    {"counts", run::kTupleCountsOffset, sizeof(run::TupleCounts) * 16},
    {"event pages", run::kEventsOffset, sizeof(subsystem::EventPage) * 48},
    {"ring pages", run::kRingPagesOffset, sizeof(subsystem::RingPage) * 16},
    {"mailboxes", run::kMailboxesOffset, run::kMailboxBytes * 16},
    {"rings", run::kRingsOffset, 1U << 16},
};

/// Does with events whatever makes the broker read pages, until it is killed.
[[noreturn]] void act() {
    for (;;) {
        const int leader = open_event(instructions(5000));
        perf_event_attr inherited = instructions();
        inherited.inherit = inherited.mmap = inherited.comm = inherited.task = 1;
        const int sibling = open_event(instructions(), 0, -1, leader);
        const int other = open_event(inherited);
        const int wide = open_event(instructions(), -1, 0);
        void* const ring = ::mmap(nullptr, std::size_t{4096} * 5, PROT_READ | PROT_WRITE, MAP_SHARED, leader, 0);
        if (::fork() == 0) {
            work(20'000);
            ::_exit(0);
        }
        for (int i = 0; i < 20; ++i) {
            std::array<char, 256> room{};
            work(3000);
            for (const int event : {leader, sibling, other, wide}) {
                [[maybe_unused]] const ssize_t got = ::read(event, room.data(), room.size());
                ::ioctl(event, i % 2 == 0 ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
                ::ioctl(event, PERF_EVENT_IOC_RESET, 0);
            }
            ::ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, leader);
            pollfd about{leader, POLLIN, 0};
            ::poll(&about, 1, 0);
        }
        if (ring != MAP_FAILED) ::munmap(ring, std::size_t{4096} * 5);
        for (const int event : {leader, sibling, other, wide}) ::close(event);
        ::waitpid(-1, nullptr, 0);
    }
}

int scribble(unsigned seed, long words) {
    constexpr long kWordsEach = 200;
    std::mt19937_64 random{seed};
    const Run run;
    ::signal(SIGCHLD, SIG_DFL);
    say("opened", open_event(instructions()) >= 0);
    // Not what the engines of this program and of the shell that starts the next one keep there for themselves.
    const std::array spared{run.page_of(::getpid()), run.page_of(::getppid())};
    const auto is_spared = [&](std::size_t place) {
        return std::ranges::any_of(spared, [&](std::uint32_t page) {
            const std::size_t own = run::kThreadPagesOffset + page * sizeof(run::ThreadPage);
            const std::size_t record = run::kProcessesOffset + run.pages()[page].process * sizeof(run::ProcessRecord);
            return (place >= own && place < own + sizeof(run::ThreadPage)) ||
                   (place >= record && place < record + sizeof(run::ProcessRecord));
        });
    };
    for (long done = 0; done < words;) {
        const pid_t actor = ::fork();
        if (actor == 0) act();
        for (long i = 0; i < kWordsEach && done < words; ++i, ++done) {
            const Part& part = kParts[random() % std::size(kParts)];
            const std::size_t place = part.offset + random() % part.bytes / 8 * 8;
            if (is_spared(place)) continue;
            const std::uint64_t values[] = {random(),          random() % 64,
                                            ~std::uint64_t{0}, std::uint64_t{1} << random() % 64,
                                            random() >> 32,    static_cast<std::uint64_t>(actor)};
            __atomic_store_n(run.at<std::uint64_t>(place), values[random() % std::size(values)], __ATOMIC_RELAXED);
            if (i % 10 == 0) ::usleep(300);  // the words are spread over what the broker does meanwhile
        }
        ::kill(actor, SIGKILL);
        ::waitpid(actor, nullptr, 0);
    }
    say("words", words);
    ::_exit(0);
}

// ---- the table of files of a deterministic run ----

/// Does what makes the broker look files up, until it is killed: maps files while an event records mappings.
[[noreturn]] void map_files() {
    perf_event_attr attr = instructions();
    attr.mmap = attr.mmap2 = attr.task = attr.sample_id_all = 1;
    const int event = open_event(attr);
    constexpr std::size_t kRing = std::size_t{4096} * 5;
    [[maybe_unused]] void* const ring = ::mmap(nullptr, kRing, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    constexpr std::array kFiles{"/bin/sh", "/bin/cat", "/bin/ls", "/bin/true", "/etc/passwd"};
    for (;;) {
        for (const char* const name : kFiles) {
            const int file = ::open(name, O_RDONLY | O_CLOEXEC);
            void* const mapped = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
            if (mapped != MAP_FAILED) ::munmap(mapped, 4096);
            ::close(file);
        }
    }
}

constexpr Part kFileParts[] = {
    {"counters", run::kMadeFilesOffset, 40},
    {"devices", run::kMadeFilesOffset + offsetof(run::MadeFiles, devices), 256},
    {"kinds", run::kMadeFilesOffset + offsetof(run::MadeFiles, device_kind), 256},
    {"slots", run::kMadeFilesOffset + offsetof(run::MadeFiles, slot), sizeof(run::MadeFiles::slot)},
    {"inodes", run::kMadeFilesOffset + offsetof(run::MadeFiles, inode), 4096},
    {"device numbers", run::kMadeFilesOffset + offsetof(run::MadeFiles, device), 512},
    {"states", run::kMadeFilesOffset + offsetof(run::MadeFiles, state), 2048},
};

/// Writes wild words into the table, and now and then the same word into all of a part: a look-up goes to few places of
/// a large one. In the end all is as before: programs of one user see the numbers that are in the table, and a loader
/// would take two libraries for one.
int files(unsigned seed, long words) {
    std::mt19937_64 random{seed};
    const Run run;
    const std::string before{run.at<char>(run::kMadeFilesOffset), sizeof(run::MadeFiles)};
    say("opened", open_event(instructions()) >= 0);
    const pid_t actor = ::fork();
    if (actor == 0) map_files();
    for (long i = 0; i < words; ++i) {
        const Part& part = kFileParts[random() % std::size(kFileParts)];
        const std::uint64_t values[] = {random(), random() % 64, ~std::uint64_t{0}, random() >> 32};
        const std::uint64_t value = values[random() % std::size(values)];
        const bool all = random() % 16 == 0;
        const std::size_t from = all ? 0 : random() % part.bytes / 8 * 8;
        const std::size_t to = all ? part.bytes : from + 8;
        for (std::size_t place = from; place < to; place += 8)
            __atomic_store_n(run.at<std::uint64_t>(part.offset + place), value, __ATOMIC_RELAXED);
        if (i % 10 == 0) ::usleep(300);
    }
    say("lives", ::waitpid(actor, nullptr, WNOHANG) == 0);
    ::kill(actor, SIGKILL);
    ::waitpid(actor, nullptr, 0);
    std::memcpy(run.at<char>(run::kMadeFilesOffset), before.data(), before.size());
    say("words", words);
    ::_exit(0);
}

// ---- hostile datagrams ----

/// A descriptor of an unexpected kind.
int any_descriptor(std::uint64_t which) {
    std::array<int, 2> pair{-1, -1};
    switch (which % 8) {
        case 0: return ::open("/dev/null", O_RDWR);
        case 1: return ::eventfd(1, 0);
        case 2: return ::open("/", O_RDONLY | O_DIRECTORY);
        case 3: return ::open("/proc/self/exe", O_PATH);
        case 4: return static_cast<int>(::syscall(SYS_memfd_create, "", 0));
        case 5: return ::socket(AF_INET, SOCK_STREAM, 0);
        case 6:
            if (::pipe(pair.data()) == 0) ::close(pair[1]);
            return pair[0];
        default:
            if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair.data()) == 0) ::close(pair[1]);
            return pair[0];
    }
}

void send(int to, const void* bytes, std::size_t count, std::size_t descriptors, std::uint64_t which) {
    iovec part{const_cast<void*>(bytes), count};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 20)> control{};
    const int fd = descriptors == 0 ? -1 : any_descriptor(which);
    if (fd >= 0) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors);
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * descriptors);
        for (std::size_t i = 0; i < descriptors; ++i) std::memcpy(CMSG_DATA(header) + i * sizeof fd, &fd, sizeof fd);
    }
    ::sendmsg(to, &message, MSG_NOSIGNAL);
    if (fd >= 0) ::close(fd);
}

int datagrams(unsigned seed, long count) {
    std::mt19937_64 random{seed};
    const Run run;
    const int event = open_event(instructions());
    say("opened", event >= 0);
    const std::uint32_t own = run.page_of(::getpid());
    for (long i = 0; i < count; ++i) {
        run::Request request{};
        run::RequestHead& head = request.head;
        head.kind = static_cast<run::RequestKind>(random() % (static_cast<unsigned>(run::RequestKind::count) + 2));
        head.page = random() % 4 == 0 ? static_cast<std::uint32_t>(random()) : own;
        head.tid = random() % 8 == 0 ? static_cast<std::int32_t>(random()) : ::getpid();
        head.event = static_cast<std::uint32_t>(random() % 8);
        head.version = random() % 16 == 0 ? 1 : run::kProtocolVersion;
        for (std::uint64_t& argument : head.argument) argument = random() >> random() % 64;
        head.payload_bytes = static_cast<std::uint32_t>(random() % (run::kRequestPayload + 2));
        for (std::uint8_t& byte : request.payload) byte = static_cast<std::uint8_t>(random());
        if (head.kind == run::RequestKind::end) head.kind = run::RequestKind::poll;
        std::size_t bytes = sizeof head + head.payload_bytes % sizeof request.payload;
        if (random() % 8 == 0) bytes = random() % (bytes + 1);
        send(run.socket, &request, bytes, random() % 3 == 0 ? 1 + random() % 20 : 0, random());
    }
    say("sent", count);
    ::_exit(0);
}

// ---- rights ----

/// As nobody: claims that the thread `victim`, which is not of this run, has a page. Then the run's root measures all
/// tasks, and changes what they have to do, for which the broker signals them.
int forge(pid_t victim) {
    const Run run;
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(1);
        const std::uint32_t page = run.page_of(::getpid()) + 1;
        run.pages()[page].initialize(0, victim, 0);
        run.pages()[page].in_kernel = 0;
        run.pages()[page].tid = victim;
        run.pages()[page].state = run::RecordState::live;
        run.at<run::RunUse>(0)->thread_pages = page + 1;
        say("can_signal", ::kill(victim, 0) == 0);
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    const int event = open_event(instructions(1000), -1, 0);
    say("opened", event >= 0);
    for (int i = 0; i < 10; ++i) {
        ::ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
        ::ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
    }
    return 0;
}

/// As nobody: what the kernel would refuse it, by the run's own means.
int rights() {
    const Run run;
    const int own = open_event(instructions());
    const pid_t root = ::getpid();
    const std::uint32_t page = run.page_of(root);
    const pid_t child = ::fork();
    if (child != 0) {
        ::waitpid(child, nullptr, 0);
        return own < 0 ? 1 : 0;
    }
    if (::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(1);
    say("measure", open_event(instructions(), root) < 0 ? errno : 0);
    say("measure_cpu", open_event(instructions(), -1, 0) < 0 ? errno : 0);
    say("shrink", ::ftruncate(run.memory, 4096) == 0 ? 0 : errno);
    say("grow", ::ftruncate(run.memory, off_t{1} << 41) == 0 ? 0 : errno);
    say("seal", ::fcntl(run.memory, F_ADD_SEALS, F_SEAL_WRITE) == 0 ? 0 : errno);
    // In root's name: a definition of a probe, which makes the broker open a file with its own rights.
    run::Request request{};
    request.head.kind = run::RequestKind::define_probes;
    request.head.page = page;
    request.head.tid = root;
    constexpr std::string_view kLine = "p:attack /bin/true:0\n";
    std::memcpy(request.payload, kLine.data(), kLine.size());
    request.head.payload_bytes = kLine.size();
    send(run.socket, &request, sizeof request.head + kLine.size(), 0, 0);
    // And in its own. It has a run memory of its own by now.
    ::close(run.memory);
    const Run own_run;
    request.head.page = own_run.page_of(::getpid());
    request.head.tid = ::getpid();
    request.head.sequence = 77;
    send(run.socket, &request, sizeof request.head + kLine.size(), 0, 0);
    const auto* const mailbox = own_run.at<run::Mailbox>(run::kMailboxesOffset) + request.head.page;
    // At most ten seconds: a broker that does not answer is a failure, not a hang.
    for (int i = 0; i < 10'000 && __atomic_load_n(&mailbox->answered, __ATOMIC_ACQUIRE) != 77; ++i) ::usleep(1000);
    if (__atomic_load_n(&mailbox->answered, __ATOMIC_ACQUIRE) != 77) ::_exit(1);
    say("define", -static_cast<long>(mailbox->answer));
    ::_exit(0);
}

/// The first process of a pid namespace: makes a child that has the number of a process outside, and samples it.
/// Nothing here is an attack, but the broker must take the child for the child.
int namespaced(pid_t number) {
    const int last = ::open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    ::dprintf(last, "%d", number - 1);
    const pid_t child = ::fork();
    if (child == 0)
        for (;;) work(1000);
    say("same_number", child == number);
    const int event = open_event(instructions(1000), child);
    say("opened", event >= 0);
    std::uint64_t value = 0;
    for (int i = 0; i < 10; ++i) {
        ::ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
        ::ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
        ::usleep(20'000);
    }
    say("counted", ::read(event, &value, sizeof value) == sizeof value && value != 0);
    say("lives", ::waitpid(child, nullptr, WNOHANG) == 0);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return 0;
}

/// Tries all ways to write to what the broker states to the programs.
int facts() {
    const int file = find(is_facts);
    void* const mapped = ::mmap(nullptr, run::kFactsBytes, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) return 77;
    const auto* const header = static_cast<const run::RunHeader*>(mapped);
    say("magic", header->magic == run::kRunStateMagic);
    say("protect", ::mprotect(mapped, run::kHeaderBytes, PROT_READ | PROT_WRITE) == 0 ? 0 : errno);
    say("map",
        ::mmap(nullptr, run::kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED ? errno : 0);
    say("write", ::pwrite(file, "/etc/attack", 12, offsetof(run::RunHeader, log_path)) > 0 ? 0 : errno);
    const std::string name = "/proc/self/fd/" + std::to_string(file);
    const int again = ::open(name.c_str(), O_RDWR);
    say("write_again", ::pwrite(again, "/etc/attack", 12, offsetof(run::RunHeader, log_path)) > 0 ? 0 : errno);
    say("punch", ::fallocate(again, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0 ? 0 : errno);
    say("shrink", ::ftruncate(again, 0) == 0 ? 0 : errno);
    const int memory = ::open("/proc/self/mem", O_RDWR);
    say("memory", ::pwrite(memory, "x", 1, reinterpret_cast<off_t>(header->log_path)) > 0 ? 0 : errno);
    return 0;
}

// ---- locks ----

/// Locks the event's page and its group in the name of a thread: a stopped one of the run, one that does not exist, one
/// of another program.
int lock() {
    const Run run;
    const pid_t child = ::fork();
    if (child == 0) {
        ::raise(SIGSTOP);
        ::_exit(0);
    }
    ::waitpid(child, nullptr, WUNTRACED);
    const int leader = open_event(instructions(), child);
    const int own = open_event(instructions());
    say("opened", leader >= 0 && own >= 0);
    long answered = 0;
    for (const std::int32_t holder : {child, 1, 4'000'000, -1, 0x7fffffff}) {
        for (std::uint32_t i = 1; i < 8; ++i) {
            auto& page = run.at<subsystem::EventPage>(run::kEventsOffset)[i];
            page.lock.holder = page.group_lock.holder = holder;
        }
        std::uint64_t value = 0;
        for (const int event : {leader, own}) {
            answered += ::read(event, &value, sizeof value) == sizeof value;
            answered += ::ioctl(event, PERF_EVENT_IOC_DISABLE, 0) == 0;
            answered += ::ioctl(event, PERF_EVENT_IOC_ENABLE, 0) == 0;
        }
    }
    say("answered", answered);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc > 1 ? argv[1] : "";
    const long first = argc > 2 ? std::atol(argv[2]) : 0;
    const long second = argc > 3 ? std::atol(argv[3]) : 0;
    if (what == "count") return count();
    if (what == "scribble") return scribble(static_cast<unsigned>(first), second);
    if (what == "files") return files(static_cast<unsigned>(first), second);
    if (what == "datagrams") return datagrams(static_cast<unsigned>(first), second);
    if (what == "forge") return forge(static_cast<pid_t>(first));
    if (what == "rights") return rights();
    if (what == "namespaced") return namespaced(static_cast<pid_t>(first));
    if (what == "facts") return facts();
    if (what == "lock") return lock();
    return 2;
}
