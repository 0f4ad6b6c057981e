// hosting.cpp: see hosting.h.
#include "broker/hosting.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "broker/process_maps.h"
#include "broker/run_settings.h"
#include "subsystem/subsystem.h"

namespace anyperf::broker {

using subsystem::Subsystem;

namespace {

std::uint64_t pid_namespace() {
    struct stat about{};
    return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

/// Signals are for the threads that know what to do with them.
Result<std::thread> deaf_thread(auto body) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    Result<std::thread> thread;
    try {
        thread = std::thread{body};
    } catch (const std::system_error& refused) {
        thread = std::unexpected(Error{"cannot start a run", "no thread: " + refused.code().message(),
                                       "see `ulimit -u`, the pids limit of the cgroup and `ulimit -d`"});
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

}  // namespace

Hosting::Hosting(RunMemory memory) : memory_(std::move(memory)), stop_(::eventfd(0, EFD_CLOEXEC)) {}

Result<std::unique_ptr<Hosting>> Hosting::begin(const RunOptions& options) {
    const auto limits = LiftedLimits::lift();
    auto memory = TRY(make_run_memory(options));
    std::unique_ptr<Hosting> run{new Hosting{std::move(memory)}};
    auto [requests, to_broker] = TRY(request_socket());
    run->to_broker_ = std::move(to_broker);
    run->limits_ = limits;
    run->server_ = std::make_unique<Server>(run->memory_, std::move(requests), options.machine);
    auto serve = [server = run->server_.get(), stop = run->stop_.get()] { server->serve_until(stop); };
    run->serving_ = TRY(deaf_thread(serve));
    return run;
}

Hosting::~Hosting() {
    if (!serving_.joinable()) return;
    constexpr std::uint64_t kOnce = 1;
    [[maybe_unused]] const ssize_t told = ::write(stop_.get(), &kOnce, sizeof kOnce);
    serving_.join();
    to_broker_ = OwnedFd{};
    server_->stay_for_the_rest();
}

std::string Hosting::machine_files(bool tracepoints) {
    std::string root = server_->machine_files(0);
    return tracepoints && !root.empty() ? server_->machine_files(1) : root;
}

std::int64_t Hosting::own_page() {
    page_ = engine::take_page(memory_.header(), &memory_.thread_page(0));
    if (page_ == engine::kNoPage) return -1;
    engine::ThreadPage& page = memory_.thread_page(page_);
    page.clean(0, 0, pid_namespace());
    page.comm[0] = 0;
    return page_;
}

Result<void> Hosting::prepare(std::span<const std::string> command) {
    // A command that isn't there takes no page.
    auto launch = TRY(Launch::prepare(memory_, to_broker_.get(), {command.begin(), command.end()}));
    launch.begin_with(own_page());
    launch.limit_by(limits_);
    launch_ = std::make_unique<Launch>(std::move(launch));
    return {};
}

void Hosting::forked(pid_t process) {
    if (page_ != engine::kNoPage) __atomic_store_n(&memory_.thread_page(page_).tid, process, __ATOMIC_RELEASE);
    server_->know(process);
}

bool Hosting::has_begun() const {
    return page_ == engine::kNoPage || memory_.thread_page(page_).comm[0] != 0;
}

int Hosting::open(const abi::Attr& attr, pid_t pid, int cpu, int group, unsigned long flags) {
    subsystem::OpenRequest request;
    request.attr = std::as_bytes(std::span{&attr, 1});
    request.pid = pid;
    request.cpu = cpu;
    request.flags = flags;
    request.group.none = group == -1;
    request.group.open = group > 0;
    if (group > 0) request.group.event = static_cast<EventIndex>(group);
    if (attr.type == subsystem::kTypeUprobe)
        request.file = probed_file(attr.config1 != 0 ? reinterpret_cast<const char*>(attr.config1) : "");
    return server_->ask([&](Subsystem& subsystem, const TaskName& self) {
        request.caller = self;
        const auto opened = subsystem.open(request);
        if (opened) return static_cast<int>(*opened);
        reason_ = opened.error().reason;
        return -opened.error().error;
    });
}

ssize_t Hosting::read(int event, std::span<std::byte> buffer) {
    return server_->ask([&](Subsystem& subsystem, const TaskName&) -> ssize_t {
        const auto words = subsystem.read(static_cast<EventIndex>(event), buffer.size());
        if (!words) return -words.error().error;
        const auto bytes = std::as_bytes(std::span{*words});
        std::ranges::copy(bytes, buffer.begin());
        return static_cast<ssize_t>(bytes.size());
    });
}

int Hosting::ioctl(int event, std::uint32_t request, std::uint64_t argument) {
    return server_->ask([&](Subsystem& subsystem, const TaskName& self) {
        const auto done = subsystem.ioctl(self, static_cast<EventIndex>(event), request, {.word = argument});
        return done ? static_cast<int>(done->value) : -done.error().error;
    });
}

void Hosting::close(int event) {
    server_->ask([&](Subsystem& subsystem, const TaskName&) {
        subsystem.close(static_cast<EventIndex>(event));
        return 0;
    });
}

}  // namespace anyperf::broker
