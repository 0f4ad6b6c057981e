// exec.cpp: another program in this process. What the kernel would refuse is refused here, before there is no way back;
// then the engine executes itself with the program as an argument.
#include <errno.h>
#include <fcntl.h>

#include <new>
#include <string_view>

#include "engine/attached.h"
#include "engine/freestanding/pages.h"
#include "engine/freestanding/text.h"
#include "engine/ledger.h"
#include "engine/load/program_file.h"
#include "engine/signals/state.h"
#include "engine/start_argument.h"
#include "engine/syscalls/handlers.h"
#include "engine/x86_64/guarded_copy.h"

namespace anyperf::engine::handlers {

namespace {

constexpr std::size_t kOwnArguments = 3;
constexpr std::size_t kArgumentsRoom = std::size_t{1}
                                       << 20;  ///< pointers: more than the kernel's limit on strings allows

/// Everything that an exec needs; too big for the engine's stack.
struct Exec {
    ProgramFile file;
    char path[4096];
    char start[kStartArgumentRoom];
    const char* arguments[kArgumentsRoom];
    std::size_t count = 0;

    bool add(const char* argument) {
        if (count == kArgumentsRoom - 1) return false;
        arguments[count++] = argument;
        arguments[count] = nullptr;
        return true;
    }
};

/// A string of the application's, NUL included. The error is a positive errno.
long copy_path(std::uint64_t from, char* to, std::size_t room) {
    for (std::size_t i = 0; i < room; ++i) {
        if (!x86_64::guarded_copy(to + i, at_address<const char>(from + i), 1)) return EFAULT;
        if (to[i] == 0) return 0;
    }
    return ENAMETOOLONG;
}

/// The application's argument vector, from element `first` on, as it is: the kernel copies the strings.
long add_arguments(std::uint64_t vector, std::size_t first, Exec& exec) {
    for (std::size_t i = first; vector != 0; ++i) {
        std::uint64_t argument = 0;
        if (!x86_64::guarded_copy(&argument, at_address<const void>(vector + i * sizeof argument), sizeof argument))
            return EFAULT;
        if (argument == 0) break;
        if (!exec.add(at_address<const char>(argument))) return E2BIG;
    }
    return 0;
}

/// A script is run by its interpreter, with its own path where the interpreter's script would be.
long add_program_arguments(std::uint64_t vector, Exec& exec) {
    for (int i = exec.file.scripts - 1; i >= 0; --i) {
        const ScriptLine& line = exec.file.lines[i];
        exec.add(line.interpreter);
        if (line.has_argument()) exec.add(line.argument);
    }
    if (exec.file.scripts == 0) {
        const long error = add_arguments(vector, 0, exec);
        if (error == 0 && exec.count == kOwnArguments) exec.add("");  // as the kernel does since 5.18
        return error;
    }
    exec.add(exec.path);
    std::uint64_t first = 0;
    const bool has_first =
        vector != 0 && x86_64::guarded_copy(&first, at_address<const void>(vector), sizeof first) && first != 0;
    return has_first ? add_arguments(vector, 1, exec) : 0;
}

void keep_open(int fd, bool keep) {
    if (fd >= 0) kernel_call(__NR_fcntl, static_cast<unsigned>(fd), F_SETFD, keep ? 0 : FD_CLOEXEC);
}

/// /proc/self/exe of the application is not the engine's.
bool names_own_program(std::string_view path) {
    return path == "/proc/self/exe" || path == "/proc/thread-self/exe";
}

/// Why the engine refuses what the kernel would run, for the person who waits for the program.
void tell_refusal(const Exec& exec, const ProgramError& error) {
    if (error.reason == nullptr) return;
    Line{}.text("anyperf: cannot run: ").text(exec.path).write(2);
    Line{}.text("  cause: ").text(error.reason).write(2);
}

/// The name that the program's AT_EXECFN and comm come from (fs/exec.c, alloc_bprm).
void name_by_descriptor(int at, Exec& exec) {
    if (exec.path[0] == '/' || at == AT_FDCWD) return;
    Line name;
    name.text("/dev/fd/").decimal(at);
    if (exec.path[0] != 0) name.text("/").text(exec.path);
    const std::string_view text = name.view();
    for (std::size_t i = 0; i < text.size(); ++i) exec.path[i] = text[i];
    exec.path[text.size()] = 0;
}

long run(Call& call, Exec& exec, int at, std::uint64_t path, std::uint64_t vector, std::uint64_t environment,
         int flags) {
    if (const long error = copy_path(path, exec.path, sizeof exec.path - 32); error != 0) return -error;
    const char* const file = names_own_program(exec.path) ? call.engine.program.path : exec.path;
    if (const auto found = find_program(at, file, flags, exec.file); !found) {
        tell_refusal(exec, found.error());
        return -found.error().error;
    }
    name_by_descriptor(at, exec);
    Thread& thread = call.thread;
    const std::int64_t page = thread.page_number == kNoPage ? -1 : std::int64_t{thread.page_number};
    format_start_argument({call.engine.run_fd, thread.process, exec.file.program.fd, call.engine.broker_fd, page,
                           thread.signals->mask & kEngineSignals},
                          exec.start);
    for (const char* own :
         {"anyperf-engine", static_cast<const char*>(exec.start), static_cast<const char*>(exec.path)})
        exec.add(own);
    if (const long error = add_program_arguments(vector, exec); error != 0) return -error;
    keep_open(exec.file.program.fd, true);
    keep_over_exec(call.engine, true);
    if (page < 0) end_thread(thread);
    std::string_view name{exec.path};
    name.remove_prefix(name.rfind('/') + 1);
    attached::executing(thread, name);
    const char* const engine = "/proc/self/exe";
    long got = kernel_call(__NR_execve, address_of(engine), address_of(exec.arguments), environment);
    if (is_error(got) && call.engine.run != nullptr)
        got =
            kernel_call(__NR_execve, address_of(call.engine.run->engine_path), address_of(exec.arguments), environment);
    attached::executing(thread, {});
    keep_over_exec(call.engine, false);
    if (page < 0) begin_thread(thread, prepare_page(call.engine, thread.process, thread.page.pid));
    return got;
}

long execute(Call& call, int at, std::uint64_t path, std::uint64_t vector, std::uint64_t environment, int flags) {
    void* const memory = reserve_pages(page_up(sizeof(Exec)));
    if (memory == nullptr) return -ENOMEM;
    auto* const exec = new (memory) Exec;
    call.thread.exec_memory = memory;
    call.thread.exec_bytes = page_up(sizeof(Exec));
    exec->file.program.fd = exec->file.loader.fd = -1;
    const long got = run(call, *exec, at, path, vector, environment, flags);
    exec->file.close();
    call.thread.exec_memory = nullptr;
    release_pages(memory, page_up(sizeof(Exec)));
    return got;
}

}  // namespace

long execve(Call& call) {
    return execute(call, AT_FDCWD, call.argument[0], call.argument[1], call.argument[2], 0);
}

long execveat(Call& call) {
    return execute(call, static_cast<int>(call.argument[0]), call.argument[1], call.argument[2], call.argument[3],
                   static_cast<int>(call.argument[4]));
}

}  // namespace anyperf::engine::handlers
