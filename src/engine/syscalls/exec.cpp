// exec.cpp: execve and execveat. The next program has to run in the engine, too, so the engine executes itself, with
// the program as an argument:
//
//     ENGINE  "anyperf-engine"  START_ARGUMENT  PROGRAM_PATH  the program's arguments
//
// START_ARGUMENT (start_argument.h) carries what survives the exec: the descriptors, the process's record, the thread
// page, the ignored signals, and what the kernel does not know of the blocked ones. The engine's descriptors lose their
// close-on-exec flag for the call.
//
// The kernel would accept the engine whatever the program is. So all that it would refuse in the program is checked
// here first (load/program_file.h): an error after the exec could not be returned to the caller. The program's file is
// opened here as well and passed on, so that nothing can replace it in between. Scripts are resolved here, because the
// kernel would resolve only the engine's file.
//
// The application's argument and environment strings are not copied: only the vector of pointers is, and the kernel
// reads the strings where they are.
#include <errno.h>
#include <fcntl.h>

#include <string_view>

#include "engine/freestanding/text.h"
#include "engine/hooks.h"
#include "engine/own_descriptors.h"
#include "engine/save_translations.h"
#include "engine/signals/deliver.h"
#include "engine/signals/interruptible.h"
#include "engine/signals/share_signals.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/proc_path.h"
#include "engine/threads/exec_memory.h"
#include "engine/threads/own_faults.h"
#include "engine/threads/run_records.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::handlers {

namespace {

constexpr std::size_t kOwnArguments = 3;  ///< those of the engine, before the program's

/// Copies a string of the application with its NUL. Returns 0 or a positive errno.
long copy_path(std::uint64_t from, char* to, std::size_t room) {
    for (std::size_t i = 0; i < room; ++i) {
        if (!x86_64::guarded_copy(to + i, at_address<const char>(from + i), 1)) return EFAULT;
        if (to[i] == 0) return 0;
    }
    return ENAMETOOLONG;
}

/// What the next program's random bytes begin with in a deterministic run (start_argument.h, `random`).
std::uint32_t seed_of_next(Engine& engine) {
    constexpr std::uint64_t kLargest = INT32_MAX;
    return static_cast<std::uint32_t>(engine.random.next() % kLargest) + 1;
}

/// Appends the application's arguments from element `first` on, as pointers. Returns 0 or a positive errno.
long add_arguments(std::uint64_t vector, std::size_t first, ExecMemory& exec) {
    for (std::size_t i = first; vector != 0; ++i) {
        std::uint64_t argument = 0;
        if (!x86_64::guarded_copy(&argument, at_address<const void>(vector + i * sizeof argument), sizeof argument))
            return EFAULT;
        if (argument == 0) break;
        if (!exec.add(at_address<const char>(argument))) return E2BIG;
    }
    return 0;
}

/// Appends the arguments that the program sees. For a script these are, as in the kernel (execve(2)), the interpreter
/// and the argument of its #! line, the script's path, and the application's arguments without the first. A script's
/// interpreter may be a script itself. Returns 0 or a positive errno.
long add_program_arguments(std::uint64_t vector, ExecMemory& exec) {
    for (int i = exec.file.scripts - 1; i >= 0; --i) {
        const ScriptLine& line = exec.file.lines[i];
        exec.add(line.interpreter);
        if (line.has_argument) exec.add(line.argument);
    }
    if (exec.file.scripts == 0) {
        const long error = add_arguments(vector, 0, exec);
        if (error == 0 && exec.count == kOwnArguments) exec.add("");  // Linux adds one to an empty argv since 5.18
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

/// The program that the link /proc/PID/exe of a process of the run leads to for the application, where the kernel would
/// find the engine. Null for every other path.
const char* program_by_link(const Engine& engine, std::string_view path) {
    const ProcPath at = parse_proc_path(path);
    if (at.pid == 0 || at.rest != "exe") return nullptr;
    return at.pid == kernel_call(__NR_getpid) ? engine.program.path : program_path_of(engine, at.pid);
}

/// Reports on standard error why the engine refuses a program that the kernel would run. An errno alone would mislead
/// the user.
void report_refusal(const ExecMemory& exec, const ProgramError& error) {
    if (error.reason == nullptr) return;
    Line{}.text("anyperf: cannot run: ").text(exec.path).write(2);
    Line{}.text("  cause: ").text(error.reason).write(2);
}

/// Makes the path the name that AT_EXECFN and comm come from: /dev/fd/N/PATH where a descriptor names the directory or
/// the file (fs/exec.c, alloc_bprm).
void name_by_descriptor(int at, ExecMemory& exec) {
    if (exec.path[0] == '/' || at == AT_FDCWD) return;
    Line name;
    name.text("/dev/fd/").decimal(at);
    if (exec.path[0] != 0) name.text("/").text(exec.path);
    const std::string_view text = name.view();
    for (std::size_t i = 0; i < text.size(); ++i) exec.path[i] = text[i];
    exec.path[text.size()] = 0;
}

/// Finds the program. The kernel needs no descriptor for its files, so a full table of descriptors is no obstacle.
std::expected<void, ProgramError> find(Engine& engine, int at, const char* path, int flags, ProgramFile& file) {
    const auto found = find_program(at, path, flags, file);
    if (found || found.error().error != EMFILE) return found;
    file.close();
    free_spares(engine);
    const DescriptorRoom room{engine};
    return find_program(at, path, flags, file);
}

/// Whether the script, named by a descriptor, can't be opened by its interpreter: the descriptor closes on exec
/// (execveat(2), ENOENT).
bool is_unreachable_script(int at, const ExecMemory& exec) {
    if (exec.file.scripts == 0 || at == AT_FDCWD || exec.path[0] == '/') return false;
    const long flags = kernel_call(__NR_fcntl, static_cast<unsigned>(at), F_GETFD);
    return !is_error(flags) && (flags & FD_CLOEXEC) != 0;
}

/// Executes the engine with the prepared arguments: by its descriptor, which works after chroot(2) and without /proc.
/// Returns only on failure. A signal that has come since the program made the call is delivered first, and the call
/// made again: its handler would not exist any more.
long execute_engine(Thread& thread, const ExecMemory& exec, std::uint64_t environment) {
    const auto fd = static_cast<unsigned>(thread.engine->engine_fd);
    give_kept_signals_to_kernel(thread);
    const long got =
        thread.engine->engine_fd < 0
            ? interruptible_call(thread, __NR_execve,
                                 {address_of("/proc/self/exe"), address_of(exec.arguments), environment})
            : interruptible_call(thread, __NR_execveat,
                                 {fd, address_of(""), address_of(exec.arguments), environment, AT_EMPTY_PATH});
    apply_mask(*thread.signals);
    return got;
}

/// Returns only if the exec fails, with a negated errno.
long run(Call& call, ExecMemory& exec, int at, std::uint64_t path, std::uint64_t vector, std::uint64_t environment,
         int flags) {
    // The 32 bytes are for what name_by_descriptor() may put before the path.
    if (const long error = copy_path(path, exec.path, sizeof exec.path - 32); error != 0) return -error;
    const char* const linked = (flags & AT_SYMLINK_NOFOLLOW) == 0 ? program_by_link(call.engine, exec.path) : nullptr;
    const char* const file = linked != nullptr ? linked : exec.path;
    if (const auto found = find(call.engine, at, file, flags, exec.file); !found) {
        name_by_descriptor(at, exec);
        report_refusal(exec, found.error());
        return -found.error().error;
    }
    if (is_unreachable_script(at, exec)) return -ENOENT;
    name_by_descriptor(at, exec);
    Thread& thread = call.thread;
    const std::int64_t page = thread.page_number == run::kNoPage ? -1 : std::int64_t{thread.page_number};
    format_start_argument({call.engine.facts_fd, call.engine.run_fd, thread.process, exec.file.program.fd,
                           call.engine.broker_fd, call.engine.engine_fd, page, thread.signals->mask & kEngineSignals,
                           call.engine.descriptor_signals, true, thread.signals->actions->ignored(),
                           call.engine.user_may_differ || call.engine.user_by_capability, seed_of_next(call.engine)},
                          exec.start);
    for (const char* own :
         {"anyperf-engine", static_cast<const char*>(exec.start), static_cast<const char*>(exec.path)})
        exec.add(own);
    if (const long error = add_program_arguments(vector, exec); error != 0) return -error;
    keep_open(exec.file.program.fd, true);
    keep_descriptors_over_exec(call.engine, true);
    save_translations(thread);
    if (page < 0) close_thread_page(thread);  // a thread without a page cannot keep its counters over the exec
    std::string_view name{exec.path};
    name.remove_prefix(name.rfind('/') + 1);
    hooks::before_exec(thread, name);
    if (has_virtual_clock(call.engine)) look_at_clock(thread);
    if (page >= 0) detach_tuples(thread);
    const long got = execute_engine(thread, exec, environment);
    // The exec has failed: everything that was prepared for it is undone.
    if (page >= 0) attach_tuples(thread);
    hooks::before_exec(thread, {});
    keep_descriptors_over_exec(call.engine, false);
    if (page < 0) open_thread_page(thread, prepare_thread_page(call.engine, thread.process, thread.page.pid));
    begin_thread_time(thread);
    return got;
}

/// execve and execveat. Returns only on failure, with a negated errno.
long execute(Call& call, int at, std::uint64_t path, std::uint64_t vector, std::uint64_t environment, int flags) {
    ExecMemory* const exec = take_exec_memory(call.engine);
    if (exec == nullptr) return -ENOMEM;
    update_own_faults(call.thread);
    call.thread.exec_memory = exec;
    exec->file.program.fd = exec->file.loader.fd = -1;
    const long got = run(call, *exec, at, path, vector, environment, flags);
    exec->file.close();
    make_spares(call.engine);
    call.thread.exec_memory = nullptr;
    give_back_exec_memory(call.engine, exec);
    return got;
}

}  // namespace

long execve(Call& call) {
    return execute(call, AT_FDCWD, call.argument[0], call.argument[1], call.argument[2], 0);
}

long execveat(Call& call) {
    constexpr std::uint64_t kOnlyCheck = 0x10000;  // AT_EXECVE_CHECK (6.14): nothing is executed
    if ((call.argument[4] & kOnlyCheck) != 0) return call.pass_to_kernel();
    return execute(call, static_cast<int>(call.argument[0]), call.argument[1], call.argument[2], call.argument[3],
                   static_cast<int>(call.argument[4]));
}

}  // namespace anyperf::engine::handlers
