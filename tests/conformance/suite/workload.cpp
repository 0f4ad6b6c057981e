// workload.cpp: workloads with known counts, and helpers to run them in children and threads.
#include "suite/workload.h"

#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>

#include "suite/event.h"
#include "suite/expect.h"

extern "C" {
extern const char __executable_start[];
extern const char etext[];
extern const char end[];
}

namespace conformance {

namespace {

constexpr std::size_t kStackBytes = 128UL << 10;

void touch_range(const char* from, const char* to, int advice) {
    const auto begin = reinterpret_cast<std::uintptr_t>(from) & ~(Faults::kPage - 1);
    const auto stop = (reinterpret_cast<std::uintptr_t>(to) + Faults::kPage - 1) & ~(Faults::kPage - 1);
    for (auto page = begin; page < stop; page += Faults::kPage)
        ::madvise(reinterpret_cast<void*>(page), Faults::kPage, advice);  // fails for holes between segments
}

/// Touches the heap from the program break down to its start.
void touch_heap() {
    auto* page = static_cast<char*>(::sbrk(0)) - Faults::kPage;
    while (::madvise(page, Faults::kPage, MADV_POPULATE_WRITE) == 0) page -= Faults::kPage;
}

__attribute__((noinline)) void touch_stack() {
    std::array<volatile char, kStackBytes> below;
    for (std::size_t i = 0; i < below.size(); i += Faults::kPage) below[i] = 0;
}

}  // namespace

void touch_program() {
    touch_range(__executable_start, etext, MADV_POPULATE_READ);
    touch_range(etext, end, MADV_POPULATE_READ);
    touch_range(etext, end, MADV_POPULATE_WRITE);  // fails for read-only parts
    touch_heap();
    touch_stack();
}

Faults::Faults(std::size_t pages) : bytes_{pages * kPage} {
    void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Failure{"mmap of the memory to touch failed"};
    ::madvise(memory, bytes_, MADV_NOHUGEPAGE);
    memory_ = next_ = static_cast<char*>(memory);
    touch_program();
    Attr attr = page_faults();
    const long fd = open_event(&attr, 0, -1, -1, 0);  // executes the same path once before anything is counted
    if (fd >= 0) {
        const Event event = Event::adopt(static_cast<int>(fd));
        event.enable();
        cause(1);
        event.disable();
        [[maybe_unused]] const auto words = event.words();
    }
    cause(1);
}

Faults::~Faults() {
    ::munmap(memory_, bytes_);
}

void Faults::cause(int times) {
    for (; times > 0; --times, next_ += kPage) {
        if (next_ >= memory_ + bytes_) throw Failure{"the case has touched all its pages"};
        *static_cast<volatile char*>(next_) = 1;
    }
}

Child::Child(std::vector<std::function<void()>> steps) {
    std::array<int, 2> command{};
    std::array<int, 2> done{};
    if (::pipe(command.data()) != 0 || ::pipe(done.data()) != 0) throw Failure{"pipe failed"};
    pid_ = ::fork();
    if (pid_ < 0) throw Failure{"fork failed"};
    if (pid_ != 0) {
        ::close(command[0]);
        ::close(done[1]);
        command_ = command[1];
        done_ = done[0];
        return;
    }
    ::close(command[1]);
    ::close(done[0]);
    touch_program();
    char byte = 0;
    try {
        for (const auto& step : steps) {
            if (::read(command[0], &byte, 1) != 1) break;
            step();
            if (::write(done[1], "d", 1) != 1) break;
        }
    } catch (const std::exception&) {
        ::_exit(99);
    }
    [[maybe_unused]] const auto ignored = ::read(command[0], &byte, 1);  // returns when join() closes the pipe
    ::_exit(0);
}

void Child::step() {
    char byte = 0;
    if (::write(command_, "g", 1) != 1 || ::read(done_, &byte, 1) != 1)
        throw Failure{"expected that the child executes its step, but it has ended"};
}

void Child::last_step() {
    if (::write(command_, "g", 1) != 1) throw Failure{"expected that the child is alive"};
    ::close(std::exchange(command_, -1));
}

int Child::join() {
    if (command_ >= 0) ::close(std::exchange(command_, -1));
    int status = 0;
    if (pid_ > 0 && ::waitpid(pid_, &status, 0) != pid_) throw Failure{"waitpid failed"};
    pid_ = -1;
    return status;
}

Child::~Child() {
    if (command_ >= 0) ::close(command_);  // ends the child if this process has become nobody and may not kill it
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    if (done_ >= 0) ::close(done_);
}

int in_child(const std::function<void()>& body) {
    const pid_t pid = ::fork();
    if (pid < 0) throw Failure{"fork failed"};
    if (pid == 0) {
        try {
            body();
        } catch (const std::exception&) {
            ::_exit(99);
        }
        ::_exit(0);
    }
    int status = 0;
    if (::waitpid(pid, &status, 0) != pid) throw Failure{"waitpid failed"};
    return status;
}

void in_checked_child(const std::function<void()>& body) {
    auto* text =
        static_cast<char*>(::mmap(nullptr, PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (text == MAP_FAILED) throw Failure{"mmap failed"};
    const auto report = [&](char kind, const char* what) {
        text[0] = kind;
        std::string{what}.copy(text + 1, PATH_MAX - 2);
    };
    const int status = in_child([&] {
        try {
            body();
            text[0] = '.';
        } catch (const Skip& skip) {
            report('s', skip.what());
        } catch (const std::exception& failure) {
            report('f', failure.what());
        }
    });
    if (text[0] == 's') throw Skip{text + 1};
    if (text[0] == 'f') throw Failure{text + 1};
    if (text[0] != '.') throw Failure{"the child ended with status " + std::to_string(status)};
}

void in_thread(const std::function<void()>& body) {
    std::string failure;
    struct Start {
        const std::function<void()>& body;
        std::string& failure;
    } start{body, failure};
    pthread_t thread{};
    const auto run = [](void* argument) -> void* {
        auto* context = static_cast<Start*>(argument);
        try {
            context->body();
        } catch (const std::exception& caught) {
            context->failure = caught.what();
        }
        return nullptr;
    };
    if (::pthread_create(&thread, nullptr, run, &start) != 0) throw Failure{"pthread_create failed"};
    ::pthread_join(thread, nullptr);
    if (!failure.empty()) throw Failure{failure};
}

void exec_helper(const std::vector<std::string>& arguments) {
    std::array<char, PATH_MAX> path{};
    if (::readlink("/proc/self/exe", path.data(), path.size() - 1) <= 0) return;
    std::vector<char*> argv{path.data(), const_cast<char*>("--helper")};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(path.data(), argv.data());
}

int helper(const std::vector<std::string>& arguments) {
    const std::string action = arguments.empty() ? "nothing" : arguments[0];
    const int times = arguments.size() > 1 ? std::atoi(arguments[1].c_str()) : 0;
    if (action == "faults") Faults{}.cause(times);
    if (action == "name") ::prctl(PR_SET_NAME, arguments.at(1).c_str());
    if (action == "read") {
        std::uint64_t word = 0;
        return ::read(times, &word, sizeof word) == sizeof word ? 0 : 1;
    }
    if (action == "loop") conformance_loop(static_cast<std::uint64_t>(times));
    return 0;
}

void become_nobody() {
    constexpr uid_t kNobodyId = 65534;
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobodyId, kNobodyId, kNobodyId) != 0 ||
        ::setresuid(kNobodyId, kNobodyId, kNobodyId) != 0)
        throw Skip{"can't become uid 65534"};
    ::prctl(PR_SET_DUMPABLE, 1);
}

pid_t thread_id() {
    return static_cast<pid_t>(::syscall(SYS_gettid));
}

namespace {

std::vector<int> affinity() {
    cpu_set_t set;
    std::vector<int> cpus;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) throw Failure{"sched_getaffinity failed"};
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

}  // namespace

const std::vector<int>& allowed_cpus() {
    static const std::vector<int> cpus = affinity();  // run() calls this before a case pins a thread
    return cpus;
}

int pin_to(int nth) {
    const int cpu = allowed_cpus().at(static_cast<std::size_t>(nth));
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (::sched_setaffinity(0, sizeof set, &set) != 0) throw Failure{"sched_setaffinity failed"};
    return cpu;
}

void store(volatile std::uint64_t& target, int times) {
    for (int i = 0; i < times; ++i) target = static_cast<std::uint64_t>(i);
}

std::uint64_t load(const volatile std::uint64_t& source, int times) {
    std::uint64_t sum = 0;
    for (int i = 0; i < times; ++i) sum += source;
    return sum;
}

}  // namespace conformance
