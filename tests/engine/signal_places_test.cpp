// signal_places_test.cpp: a signal at each host instruction of calls and returns, in traces too, shows the program
// registers that it also has natively, and costs it nothing else. A tracer steps through the host's instructions: those
// of the program, or those of its translation. In each round it sends a signal at another one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/command.h"

namespace anyperf::engine_test {
namespace {

constexpr unsigned kWarmUp = 20;  // rounds until all exits of the translated code are linked
constexpr unsigned kRounds = 500;
constexpr unsigned kMoreRounds = 1500;  // while code predicts branches
constexpr long kMarker = 110;           // getppid, which begins each round

/// Where the traced instructions are, and which bytes begin the first one after them.
struct Traced {
    bool translated = false;

    /// Whether they are in the mapping of this line of /proc/PID/maps.
    [[nodiscard]] bool holds(const std::string& mapping) const {
        const std::string rights = mapping.substr(mapping.find(' ') + 1, 4);
        if (rights[2] != 'x' || mapping.ends_with(']') || mapping.ends_with("-engine")) return false;
        return mapping.ends_with("/signal_places") != translated;
    }
    [[nodiscard]] std::uint32_t end_mask() const { return translated ? 0xffffffff : 0xffff; }
    /// An exit to the engine begins with mov $PAYLOAD, %gs:exit_payload; the program's own marker is a syscall.
    [[nodiscard]] std::uint32_t end() const { return translated ? 0x2504c765 : 0x050f; }
};

/// The traced program. Its process is a descendant of this one, since `anyperf run` starts it.
class Tracee {
  public:
    Tracee(pid_t pid, Traced traced) : pid_(pid), traced_(traced) {}

    bool seize() {
        if (ptrace(PTRACE_SEIZE, pid_, 0, PTRACE_O_TRACESYSGOOD) != 0) return false;
        ptrace(PTRACE_INTERRUPT, pid_, 0, 0);
        waitpid(pid_, &status_, __WALL);
        read_mappings();
        return true;
    }

    /// Continues to the end of the next marker. False if the program has ended.
    bool begin_round(int signal) {
        // After a step over popfq the kernel takes the trap flag for the program's own and would leave it set.
        constexpr std::size_t kFlags = offsetof(user_regs_struct, eflags);
        ptrace(PTRACE_POKEUSER, pid_, kFlags, peek_user(kFlags) & ~0x100L);
        for (unsigned markers = 0; markers < 2;) {
            if (!resume(PTRACE_SYSCALL, signal)) return false;
            signal = 0;
            if (WSTOPSIG(status_) == (SIGTRAP | 0x80))
                markers += peek_user(offsetof(user_regs_struct, orig_rax)) == kMarker;
            else if ((status_ >> 16) == 0)
                signal = WSTOPSIG(status_);
        }
        return true;
    }

    /// Executes instructions until `count` of the traced ones have run; less if there are not so many. Returns how many
    /// have run.
    unsigned step(unsigned count) {
        unsigned done = 0;
        for (int signal = 0;; ++done) {
            for (bool inside = false; !inside; inside = is_traced(rip())) {
                if (!resume(PTRACE_SINGLESTEP, signal)) return done;
                signal = WSTOPSIG(status_) == SIGTRAP ? 0 : WSTOPSIG(status_);
            }
            const auto code = static_cast<std::uint32_t>(ptrace(PTRACE_PEEKTEXT, pid_, rip(), 0));
            if (done == count || (code & traced_.end_mask()) == traced_.end()) return done;
        }
    }

  private:
    bool resume(__ptrace_request how, int signal) {
        return ptrace(how, pid_, 0, signal) == 0 && waitpid(pid_, &status_, __WALL) == pid_ && WIFSTOPPED(status_);
    }
    [[nodiscard]] long peek_user(std::size_t offset) const { return ptrace(PTRACE_PEEKUSER, pid_, offset, 0); }
    [[nodiscard]] std::uint64_t rip() const {
        return static_cast<std::uint64_t>(peek_user(offsetof(user_regs_struct, rip)));
    }
    [[nodiscard]] bool is_traced(std::uint64_t address) const {
        for (const auto& [start, end] : mappings_)
            if (address >= start && address < end) return true;
        return false;
    }
    void read_mappings() {
        std::ifstream maps("/proc/" + std::to_string(pid_) + "/maps");
        for (std::string line; std::getline(maps, line);) {
            std::uint64_t start = 0, end = 0;
            char dash = 0;
            std::istringstream(line) >> std::hex >> start >> dash >> end;
            if (traced_.holds(line)) mappings_.emplace_back(start, end);
        }
    }

    pid_t pid_;
    Traced traced_;
    int status_ = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> mappings_;
};

/// A command with a pipe to its standard input and one from its standard output.
class Running {
  public:
    explicit Running(const Command& command) {
        int in[2], out[2];
        if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::abort();
        child_ = fork();
        if (child_ == 0) {
            setpgid(0, 0);
            dup2(in[0], 0), dup2(out[1], 1);
            for (const std::string& variable : command.environment) putenv(strdup(variable.c_str()));
            std::vector<char*> words;
            words.reserve(command.words.size() + 1);
            for (const std::string& word : command.words) words.push_back(strdup(word.c_str()));
            words.push_back(nullptr);
            execvp(words[0], words.data());
            _exit(127);
        }
        close(in[0]), close(out[1]);
        in_ = in[1], out_ = out[0];
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() {
        close(in_), close(out_);
        if (child_ <= 0) return;
        kill(-child_, SIGKILL);
        waitpid(child_, nullptr, 0);
    }

    void go() const { EXPECT_EQ(write(in_, "g", 1), 1); }
    /// Up to the end of a line, or of everything.
    std::string read(bool line) const {
        std::string text;
        for (char c = 0; ::read(out_, &c, 1) == 1;) {
            if (line && c == '\n') break;
            text += c;
        }
        return text;
    }
    /// After everything has been read.
    int wait() {
        int status = 0;
        waitpid(child_, &status, 0);
        child_ = 0;
        return status;
    }

  private:
    pid_t child_ = 0;
    int in_ = -1, out_ = -1;
};

struct Shown {
    std::string lines;    ///< what the program's handler saw at each instruction
    unsigned places = 0;  ///< traced instructions of a round
    bool may_trace = true;
    int status = -1;
};

Command program(unsigned rounds = kRounds) {
    return {.words = {ANYPERF_BINARY_DIR "/tests/programs/signal_places", std::to_string(kWarmUp + 1 + rounds)},
            .directory = {}};
}

/// Runs the program with a signal at each traced instruction in turn.
Shown signals_in(const Command& command, Traced traced, unsigned rounds = kRounds) {
    Shown shown;
    Running running{command};
    const std::string pid = running.read(true);
    Tracee tracee{static_cast<pid_t>(std::strtol(pid.c_str() + pid.find('=') + 1, nullptr, 16)), traced};
    if (!pid.starts_with("pid=") || !tracee.seize()) {
        shown.may_trace = errno != EPERM && pid.starts_with("pid=");
        return shown;
    }
    running.go();
    for (unsigned i = 0; i <= kWarmUp; ++i) EXPECT_TRUE(tracee.begin_round(0));
    shown.places = tracee.step(~0u);
    for (unsigned round = 0; round < rounds && shown.places != 0; ++round) {
        if (!tracee.begin_round(round == 0 ? 0 : SIGUSR1)) break;
        tracee.step(round % shown.places);
    }
    while (tracee.begin_round(SIGUSR1)) {
    }
    shown.lines = running.read(false);
    shown.status = running.wait();
    return shown;
}

class SignalPlaces : public testing::Test {
  protected:
    void SetUp() override {
        if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    }

    /// How the engine translates.
    struct Way {
        std::string pair_returns, traces, separate_writes;
    };

    static Command under(const Way& way, const std::vector<std::string>& options) {
        Command command = under_engine(program(), options);
        command.environment.push_back("ANYPERF_ENGINE_PAIR_RETURNS=" + way.pair_returns);
        command.environment.push_back("ANYPERF_ENGINE_TRACES=" + way.traces);
        command.environment.push_back("ANYPERF_ENGINE_SEPARATE_WRITES=" + way.separate_writes);
        return command;
    }

    nlohmann::json counted(const Way& way) const {
        const auto file = (scratch_.path() / "counts").string();
        const Shown shown = signals_in(under(way, {"--count", "--count-to", file}), {.translated = true});
        EXPECT_EQ(shown.status, 0);
        EXPECT_LT(shown.places, kRounds);
        std::ifstream stream(file);
        return nlohmann::json::parse(stream, nullptr, false).value("total", nlohmann::json{});
    }

    Scratch scratch_;
};

TEST_F(SignalPlaces, ShowTheRegistersOfANativeRun) {
    const Shown native = signals_in(program(), {});
    if (!native.may_trace) GTEST_SKIP() << "this process may not trace";
    EXPECT_GT(native.places, 40u);
    EXPECT_EQ(native.status, 0);
    const Way ways[]{
        {"never", "never", "0"}, {"0", "never", "0"}, {"0", "never", "1"}, {"never", "1", "0"}, {"never", "1", "1"}};
    for (const Way& way : ways) {
        const std::string name = way.pair_returns + " " + way.traces + " " + way.separate_writes;
        const Shown engine = signals_in(under(way, {}), {.translated = true});
        EXPECT_GT(engine.places, native.places) << name;
        EXPECT_LT(engine.places, kRounds) << name << ": not every instruction has had its signal";
        EXPECT_EQ(engine.lines, native.lines) << name;
        EXPECT_EQ(engine.status, 0) << name;
    }
}

TEST_F(SignalPlaces, ShowTheRegistersOfANativeRunWhileBranchesArePredicted) {
    const Shown native = signals_in(program(kMoreRounds), {}, kMoreRounds);
    if (!native.may_trace) GTEST_SKIP() << "this process may not trace";
    for (const char* const traces : {"never", "1"}) {
        Command command = program(kMoreRounds);
        const std::vector<std::string> stat{
            ANYPERF_BINARY_DIR "/bin/anyperf", "stat", "--virtual", "-o", "/dev/null", "-e", "branch-misses", "--"};
        command.words.insert(command.words.begin(), stat.begin(), stat.end());
        command.environment.push_back(std::string{"ANYPERF_ENGINE_TRACES="} + traces);
        const Shown engine = signals_in(command, {.translated = true}, kMoreRounds);
        EXPECT_GT(engine.places, native.places) << traces;
        EXPECT_LT(engine.places, kMoreRounds) << traces << ": not every instruction has had its signal";
        EXPECT_EQ(engine.lines, native.lines) << traces;
        EXPECT_EQ(engine.status, 0) << traces;
    }
}

TEST_F(SignalPlaces, HaveTheSameCountsPairedUnpairedAndInTraces) {
    // Environments of one length: the program's start scans it.
    const nlohmann::json usual = counted({"never", "never", "0"});
    EXPECT_EQ(counted({"00000", "never", "0"}), usual);
    EXPECT_EQ(counted({"never", "00001", "0"}), usual);
}

}  // namespace
}  // namespace anyperf::engine_test
