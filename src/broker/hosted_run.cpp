// hosted_run.cpp: the serving thread of a hosted run, its commands, and its calls to the subsystem.
//
// Two threads: one serves the programs, as the broker of `anyperf run` does; the other is the verb's and opens events
// by function calls. Both call the subsystem under the server's lock (call_subsystem). Event numbers take the place of
// descriptors here: the verb is not a program of the run and has none.
#include "broker/hosted_run.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "abi/ioctls.h"
#include "broker/host/process_maps.h"
#include "broker/launch/run_settings.h"
#include "subsystem/subsystem.h"
#include "try.h"

namespace anyperf::broker {

using subsystem::EventIndex;
using subsystem::Subsystem;
using subsystem::TaskId;

namespace {

/// The inode of this process's pid namespace, which the ids in a thread page belong to; 0 without /proc.
std::uint64_t pid_namespace() {
    struct stat about{};
    return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

/// Starts a thread with all signals blocked, so that the process's signals reach the verb's threads: the verb waits for
/// the command, and handles SIGINT and SIGCHLD.
Result<std::thread> start_thread_with_signals_blocked(auto body) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    Result<std::thread> thread;
    try {
        thread = std::thread{body};
    } catch (const std::system_error& refused) {
        thread = std::unexpected(Error{"cannot start a run", "no new thread: " + refused.code().message(),
                                       "see `ulimit -u`, the pids limit of the cgroup and `ulimit -d`"});
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

/// The text that the request's argument points to, with its NUL, cut to the longest text that the request takes; empty
/// if the request takes no text. The caller is in this process, so the pointer needs no check.
std::span<const std::byte> text_argument(std::uint32_t request, std::uint64_t argument) {
    const auto* const row = std::ranges::find(abi::kIoctls, request, &abi::Ioctl::request);
    if (row == abi::kIoctls.end() || row->argument != abi::ArgumentKind::text_in || argument == 0) return {};
    const auto* const text = reinterpret_cast<const char*>(argument);
    return std::as_bytes(std::span{text, std::min<std::size_t>(::strnlen(text, row->bytes) + 1, row->bytes)});
}

}  // namespace

HostedRun::HostedRun(RunMemory memory)
    : memory_(std::move(memory)),
      trimmer_(memory_.header().store_path),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Result<std::unique_ptr<HostedRun>> HostedRun::begin(const RunOptions& options) {
    const auto limits = LiftedLimits::lift();
    TRY(check_descriptors());
    auto memory = TRY(make_run_memory(options));
    memory.header().limits = limits.memory();
    std::unique_ptr<HostedRun> run{new HostedRun{std::move(memory)}};
    auto [requests, to_broker] = TRY(make_request_socket());
    run->to_broker_ = std::move(to_broker);
    run->limits_ = limits;
    run->server_ = std::make_unique<Server>(run->memory_, std::move(requests), options.machine);
    run->server_->signal_own_events(run->wake_.get());
    auto serve = [server = run->server_.get(), stop = run->stop_.get()] { server->serve_until(stop); };
    run->serving_ = TRY(start_thread_with_signals_blocked(serve));
    return run;
}

// Programs may outlive the command (daemons). The serving thread is stopped, and a child of this process goes on
// serving those that are left, so that the verb can end.
HostedRun::~HostedRun() {
    if (!serving_.joinable()) return;
    constexpr std::uint64_t kOnce = 1;
    [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &kOnce, sizeof kOnce);
    serving_.join();
    to_broker_ = OwnedFd{};  // so that the socket reports when the last program is gone
    server_->serve_remaining_processes();
}

std::string HostedRun::machine_files(bool tracepoints) {
    std::string root = server_->machine_files(0);
    return tracepoints && !root.empty() ? server_->machine_files(1) : root;
}

// Reads the memfd and does not map it: touching a page that nobody has written would allocate it.
std::size_t HostedRun::read_memory(std::uint64_t offset, std::span<std::byte> to) const {
    const ssize_t got = ::pread(memory_.fd(), to.data(), to.size(), static_cast<off_t>(offset));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

// The command's page exists before its process, so that events can be opened on it before its exec.
std::int64_t HostedRun::take_command_page() {
    page_ = run::claim_thread_page(memory_.use(), memory_.pages_of(0));
    if (page_ == run::kNoPage) return -1;
    run::ThreadPage& page = memory_.thread_page(page_);
    page.initialize(0, 0, pid_namespace());
    page.comm[0] = 0;  // the engine writes the name when it begins (has_begun)
    return page_;
}

Result<void> HostedRun::prepare(std::span<const std::string> command) {
    // The command is looked up first, so that a command that is not found takes no page.
    auto launch = TRY(Launch::prepare(memory_, to_broker_.get(), {command.begin(), command.end()}));
    launch.set_thread_page(take_command_page());
    launch.set_limits(limits_);
    launch_ = std::make_unique<Launch>(std::move(launch));
    return {};
}

void HostedRun::forked(pid_t process) {
    if (page_ != run::kNoPage) __atomic_store_n(&memory_.thread_page(page_).tid, process, __ATOMIC_RELEASE);
    server_->track_command(process, page_);
}

bool HostedRun::has_begun() const {
    return page_ == run::kNoPage || memory_.thread_page(page_).comm[0] != 0;
}

// The reason of a refusal is kept for the message. A uprobe's path is resolved here, in this process, as the kernel
// resolves it in the caller.
int HostedRun::open(const abi::Attr& attr, pid_t pid, int cpu, int group, unsigned long flags) {
    subsystem::OpenRequest request;
    request.attr = std::as_bytes(std::span{&attr, 1});
    request.pid = pid;
    request.cpu = cpu;
    request.flags = flags;
    request.group.none = group == -1;
    // -1 means no group. No open event has another number below 1.
    request.group.open = group > 0;
    if (group > 0) request.group.event = static_cast<EventIndex>(group);
    if (attr.type == subsystem::kTypeUprobe)
        request.file = probed_file(attr.config1 != 0 ? reinterpret_cast<const char*>(attr.config1) : "");
    return server_->call_subsystem([&](Subsystem& subsystem, const TaskId& self) {
        request.caller = self;
        const auto opened = subsystem.open(request);
        if (opened) return static_cast<int>(*opened);
        reason_ = opened.error().reason;
        return -opened.error().error;
    });
}

ssize_t HostedRun::read(int event, std::span<std::byte> buffer) {
    return server_->call_subsystem([&](Subsystem& subsystem, const TaskId&) -> ssize_t {
        const auto words = subsystem.read(static_cast<EventIndex>(event), buffer.size());
        if (!words) return -words.error().error;
        const auto bytes = std::as_bytes(std::span{*words});
        std::ranges::copy(bytes, buffer.begin());
        return static_cast<ssize_t>(bytes.size());
    });
}

int HostedRun::ioctl(int event, std::uint32_t request, std::uint64_t argument) {
    return server_->call_subsystem([&](Subsystem& subsystem, const TaskId& self) {
        // Some requests have an event as their argument. ~0 takes the place of descriptor -1.
        subsystem::Descriptor named{.none = argument == ~std::uint64_t{0}, .open = true};
        if (!named.none) named.event = static_cast<EventIndex>(argument);
        const auto done =
            subsystem.ioctl(self, static_cast<EventIndex>(event), request,
                            {.word = argument, .bytes = text_argument(request, argument), .descriptor = named});
        return done ? static_cast<int>(done->value) : -done.error().error;
    });
}

void HostedRun::close(int event) {
    server_->call_subsystem([&](Subsystem& subsystem, const TaskId&) {
        subsystem.close(static_cast<EventIndex>(event));
        return 0;
    });
}

std::expected<std::span<std::byte>, int> HostedRun::map(int event, std::size_t bytes, bool overwrite) {
    subsystem::MapRequest request;
    request.length = bytes;
    request.prot = overwrite ? PROT_READ : PROT_READ | PROT_WRITE;
    request.flags = MAP_SHARED;
    request.inherited_without_cpu = true;
    using Mapped = std::expected<subsystem::Mapping, int>;
    const auto mapped = server_->call_subsystem([&](Subsystem& subsystem, const TaskId& self) -> Mapped {
        request.caller = self;
        const auto mapping = subsystem.map(static_cast<EventIndex>(event), request);
        if (mapping) return *mapping;
        reason_ = mapping.error().reason;
        return std::unexpected(-mapping.error().error);
    });
    if (!mapped) return std::unexpected(mapped.error());
    mappings_[event] = *mapped;
    return server_->ring_memory(mapped->ring);
}

void HostedRun::unmap(int event) {
    const auto known = mappings_.find(event);
    if (known == mappings_.end()) return;
    server_->call_subsystem([&](Subsystem& subsystem, const TaskId&) {
        subsystem.unmap(static_cast<EventIndex>(event), known->second);
        return 0;
    });
    mappings_.erase(known);
}

// Programs can write the counts.
std::uint64_t HostedRun::locked_out() {
    std::uint64_t sum = 0;
    for (const auto& [event, mapping] : mappings_) sum += server_->locked_out(mapping.ring);
    return sum;
}

}  // namespace anyperf::broker
