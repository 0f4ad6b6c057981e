// users.cpp: a program of a run that becomes another user: what it then can reach of the run's memory, and that it is
// measured on as before. The argument selects the case; users_test.py checks the lines "NAME VALUE".
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "program_of_a_run.h"

namespace {

using namespace anyperf;
using namespace anyperf::attacks;

constexpr long kRounds = 200'000;

ino_t inode_of(int fd) {
    struct stat about{};
    return ::fstat(fd, &about) == 0 ? about.st_ino : 0;
}

/// The inode of the run memory that this process has.
ino_t own_memory() {
    const int fd = find(is_memory);
    const ino_t inode = inode_of(fd);
    ::close(fd);
    return inode;
}

/// How many mappings of the file the process has. The caller must be another process: a process's own list leaves out
/// what is the engine's.
long mappings_of(pid_t process, ino_t inode) {
    std::ifstream maps{"/proc/" + std::to_string(process) + "/maps"};
    long found = 0;
    for (std::string line; std::getline(maps, line);) {
        std::istringstream words{line};
        std::string range, protection, offset, device, number;
        words >> range >> protection >> offset >> device >> number;
        found += number == std::to_string(inode) && protection[1] == 'w';
    }
    return found;
}

bool become_nobody() {
    return ::setresgid(kNobody, kNobody, kNobody) == 0 && ::setresuid(kNobody, kNobody, kNobody) == 0;
}

/// Two ends of a conversation between a parent and its child.
struct Pipe {
    std::array<int, 2> ends{-1, -1};
    Pipe() { [[maybe_unused]] const int made = ::pipe(ends.data()); }
    void put(std::uint64_t value) const {
        [[maybe_unused]] const ssize_t done = ::write(ends[1], &value, sizeof value);
    }
    std::uint64_t take() const {
        std::uint64_t value = 0;
        return ::read(ends[0], &value, sizeof value) == sizeof value ? value : ~std::uint64_t{0};
    }
};

/// Runs `child` in a child, which may report with the first pipe and waits on the second one, and `parent` in this
/// process. The result is the child's status.
template <class Child, class Parent>
int with_child(const Child& child, const Parent& parent) {
    const Pipe up;
    const Pipe down;
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(child(up, down));
    parent(pid, up, down);
    int status = -1;
    ::waitpid(pid, &status, 0);
    return status;
}

/// What the memory of a process that was root, and its mappings, are afterwards.
int memory() {
    const ino_t roots = own_memory();
    say("found", roots != 0);
    const int event = open_event(instructions());
    say("opened", event >= 0);
    say("status", with_child(
                      [](const Pipe& up, const Pipe& down) {
                          if (!become_nobody()) return 1;
                          up.put(own_memory());
                          down.take();
                          return 0;
                      },
                      [&](pid_t child, const Pipe& up, const Pipe& down) {
                          const std::uint64_t now = up.take();
                          say("other_memory", now != roots && now != 0);
                          say("mappings_of_roots", mappings_of(child, roots));
                          say("mappings_of_own", mappings_of(child, now) > 0);
                          down.put(0);
                      }));
    return 0;
}

/// Changes that can be taken back leave the process where it is.
int back_and_forth() {
    const ino_t before = own_memory();
    if (::seteuid(kNobody) != 0) return 1;
    say("same_while_effective", own_memory() == before);
    if (::seteuid(0) != 0) return 1;
    say("same_afterwards", own_memory() == before);
    return 0;
}

/// A process with threads keeps its memory; its child, and the program that it executes, do not.
int threads(char** arguments) {
    const ino_t roots = own_memory();
    say("status", with_child(
                      [&](const Pipe& up, const Pipe& down) {
                          const Pipe end;
                          // It asks the broker, so that it has a mailbox.
                          const Pipe ready;
                          std::thread other{[&] {
                              ready.put(open_event(instructions()) >= 0);
                              end.take();
                          }};
                          up.put(ready.take());
                          const pid_t child = ::fork();
                          if (child == 0) {
                              if (!become_nobody()) ::_exit(1);
                              up.put(static_cast<std::uint64_t>(::getpid()));
                              up.put(own_memory());
                              down.take();
                              ::execl(arguments[0], arguments[0], "tell-memory", std::to_string(roots).c_str(),
                                      nullptr);
                              ::_exit(1);
                          }
                          ::waitpid(child, nullptr, 0);
                          // Now the process itself, whose threads use the memory: its child and its next program.
                          if (!become_nobody()) return 1;
                          const pid_t second = ::fork();
                          if (second == 0) {
                              say("second_is_other", own_memory() != roots);
                              ::_exit(0);
                          }
                          ::waitpid(second, nullptr, 0);
                          ::execl(arguments[0], arguments[0], "tell-memory", std::to_string(roots).c_str(), nullptr);
                          return 1;
                      },
                      [&](pid_t, const Pipe& up, const Pipe& down) {
                          say("opened", static_cast<long>(up.take()));
                          const auto child = static_cast<pid_t>(up.take());
                          say("childs_is_other", up.take() != roots);
                          say("childs_mappings_of_roots", mappings_of(child, roots));
                          down.put(0);
                      }));
    return 0;
}

/// The value of an event that counts a child that has stopped itself. Lets the child go on.
std::uint64_t read_while_stopped(int event, pid_t child) {
    ::waitpid(child, nullptr, WUNTRACED);
    std::uint64_t value = 0;
    [[maybe_unused]] const ssize_t got = ::read(event, &value, sizeof value);
    ::kill(child, SIGCONT);
    return value;
}

/// The parent's event counts the child to the instruction, whether the child changes its user or not.
int counts() {
    std::array<std::uint64_t, 2> difference{};
    for (const bool changes : {false, true}) {
        with_child(
            [&](const Pipe&, const Pipe& down) {
                down.take();
                if (changes && !become_nobody()) return 1;
                ::raise(SIGSTOP);
                work(kRounds);
                ::raise(SIGSTOP);
                return 0;
            },
            [&](pid_t child, const Pipe&, const Pipe& down) {
                // Opened before the change.
                const int event = open_event(instructions(), child);
                down.put(0);
                const std::uint64_t before = read_while_stopped(event, child);
                difference[changes ? 1 : 0] = read_while_stopped(event, child) - before;
                ::close(event);
            });
    }
    say("counted", difference[0] >= kRounds);
    say("alike", difference[0] == difference[1]);
    return 0;
}

/// Samples of the child's thread in the ring.
long samples_in(const void* ring, std::size_t bytes, pid_t tid) {
    const auto* const header = static_cast<const perf_event_mmap_page*>(ring);
    const std::uint64_t head = __atomic_load_n(&header->data_head, __ATOMIC_ACQUIRE);
    const auto* const data = static_cast<const char*>(ring) + 4096;
    long found = 0;
    for (std::uint64_t at = 0; at < head && head < bytes;) {
        perf_event_header record{};
        std::memcpy(&record, data + at, sizeof record);
        if (record.size == 0) return -1;
        std::int32_t ids[2] = {};
        if (record.type == PERF_RECORD_SAMPLE) std::memcpy(ids, data + at + 16, sizeof ids);
        found += record.type == PERF_RECORD_SAMPLE && ids[1] == tid;
        at += record.size;
    }
    return found;
}

/// Root samples a child that becomes nobody, in a ring that only root has mapped. Then the child samples itself by an
/// event and a ring that it has from before.
int samples() {
    constexpr std::size_t kBytes = std::size_t{4096} * 65;
    with_child(
        [&](const Pipe& up, const Pipe& down) {
            down.take();
            const int own = open_event(instructions(10'000));
            void* const ring = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
            if (ring == MAP_FAILED || !become_nobody()) return 1;
            work(kRounds);
            const long found = samples_in(ring, kBytes, ::getpid());
            std::uint64_t value = 0;
            if (::read(own, &value, sizeof value) != sizeof value) return 1;
            // An event that is opened afterwards has its ring in the new memory.
            const int later = open_event(instructions(10'000));
            void* const second = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, later, 0);
            work(kRounds);
            up.put(static_cast<std::uint64_t>(found));
            up.put(second == MAP_FAILED ? 0 : static_cast<std::uint64_t>(samples_in(second, kBytes, ::getpid())));
            down.take();
            return 0;
        },
        [&](pid_t child, const Pipe& up, const Pipe& down) {
            const int event = open_event(instructions(10'000), child);
            void* const ring = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
            if (ring == MAP_FAILED) std::exit(1);
            down.put(0);
            const auto own = static_cast<long>(up.take());
            const auto later = static_cast<long>(up.take());
            constexpr long kLeast = kRounds / 10'000;
            say("by_root", samples_in(ring, kBytes, child) >= 2 * kLeast);
            say("by_itself", own >= kLeast);
            say("by_itself_later", later >= kLeast);
            down.put(0);
        });
    return 0;
}

/// A request of this process with the broker's answer; the negated errno ETIMEDOUT if there is none.
long request(const Run& run, run::RequestKind kind, std::uint32_t event, const void* payload, std::uint32_t bytes) {
    static std::uint32_t sequence = 70;
    run::Request request{};
    request.head.kind = kind;
    request.head.page = run.page_of(::getpid());
    request.head.tid = ::getpid();
    request.head.event = event;
    request.head.sequence = ++sequence;
    request.head.payload_bytes = bytes;
    std::memcpy(request.payload, payload, bytes);
    if (::send(run.socket, &request, sizeof request.head + bytes, MSG_NOSIGNAL) < 0) return -errno;
    const auto* const mailbox = run.at<run::Mailbox>(run::kMailboxesOffset) + request.head.page;
    for (int i = 0; i < 10'000 && __atomic_load_n(&mailbox->answered, __ATOMIC_ACQUIRE) != sequence; ++i)
        ::usleep(1000);
    return __atomic_load_n(&mailbox->answered, __ATOMIC_ACQUIRE) == sequence ? mailbox->answer : -ETIMEDOUT;
}

/// As nobody: writes records by the broker into root's ring, of events that count root, and of its own in wrong forms.
int foreign_records() {
    constexpr std::size_t kBytes = std::size_t{4096} * 9;
    const int event = open_event(instructions());
    void* const ring = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    const auto* const header = static_cast<const perf_event_mmap_page*>(ring);
    const std::uint64_t before = header->data_head;
    say("status",
        with_child(
            [](const Pipe&, const Pipe& down) {
                down.take();
                if (!become_nobody()) return 1;
                const Run run;
                struct {
                    perf_event_header header{PERF_RECORD_SAMPLE, 0, 16};
                    std::uint64_t word = 0;
                } record;
                long written = 0;
                for (std::uint32_t index = 0; index < 64; ++index)
                    written += request(run, run::RequestKind::write_record, index, &record, sizeof record) > 0;
                say("written", written);
                // The event of the child is the second one; a size that is not that of the bytes is refused.
                record.header.size = 4096;
                written = 0;
                for (std::uint32_t index = 0; index < 64; ++index)
                    written += request(run, run::RequestKind::write_record, index, &record, sizeof record) > 0;
                say("written_too_long", written);
                return 0;
            },
            [&](pid_t child, const Pipe&, const Pipe& down) {
                const int of_child = open_event(instructions(1'000'000'000), child);
                void* const its = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, of_child, 0);
                if (its == MAP_FAILED) std::exit(1);
                down.put(0);
            }));
    say("roots_ring", static_cast<long>(header->data_head - before));
    return 0;
}

/// As nobody in a user namespace of its own. There it has all capabilities; the broker must not accept them.
int capabilities() {
    if (!become_nobody() || ::unshare(CLONE_NEWUSER) != 0) return 77;
    const Run run;
    constexpr std::string_view kLine = "p:attack /bin/true:0\n";
    say("define", -request(run, run::RequestKind::define_probes, 0, kLine.data(), kLine.size()));
    return 0;
}

/// Works as root, then as nobody: for a count of the whole command.
int both() {
    work(kRounds);
    if (!become_nobody()) return 1;
    work(kRounds);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view what = argc > 1 ? argv[1] : "";
    if (what == "memory") return memory();
    if (what == "back-and-forth") return back_and_forth();
    if (what == "threads") return threads(argv);
    if (what == "tell-memory") return say("program_is_other", own_memory() != std::strtoull(argv[2], nullptr, 10)), 0;
    if (what == "counts") return counts();
    if (what == "samples") return samples();
    if (what == "foreign-records") return foreign_records();
    if (what == "capabilities") return capabilities();
    if (what == "both") return both();
    return 2;
}
