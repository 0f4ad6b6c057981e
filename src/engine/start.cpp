// start.cpp: a process of the run begins. The engine was executed instead of a program, with three arguments in front
// of the program's own: its name, what it takes over from before the exec (state.h), and the program's path.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <new>

#include "engine/attached.h"
#include "engine/fail.h"
#include "engine/freestanding/pages.h"
#include "engine/ledger.h"
#include "engine/load/process_image.h"
#include "engine/signals/deliver.h"
#include "engine/start_argument.h"
#include "engine/syscalls/handlers.h"
#include "engine/thread_memory.h"
#include "engine/x86_64/cpuid.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kOwnArguments = 3;

Engine& make_engine(const StartArgument& argument) {
    own_image();
    void* const memory = reserve_pages(page_up(sizeof(Engine)));
    if (memory == nullptr) refuse(kOwnFailure, "cannot start the engine", "", "no memory", "");
    auto& engine = *new (memory) Engine;
    if (argument.run_fd >= 0) {
        if (!open_ledger(engine, argument.run_fd))
            refuse(kOwnFailure, "cannot start the engine", "", "the memory of the run can't be mapped", "");
        engine.broker_fd = argument.broker_fd;
        hide_descriptors(engine);
        engine.cache.most = engine.run->cache_bytes;
        engine.counting.open = static_cast<x86_64::ClassSet>(engine.run->counting);
    }
    const bool reserved = engine.guarded.reserve() && engine.cache.reserve();
    if (reserved) engine.arena_near_engine = engine.cache.arena_for(address_of(&engine));
    if (engine.arena_near_engine == nullptr || !emit_routines(*engine.arena_near_engine, engine.routines))
        refuse(kOwnFailure, "cannot start the engine", "", "no address space for the code cache",
               "raise the limit on address space (ulimit -v)");
    engine.cache.landings_loop = x86_64::loop_is_fast();
    engine.cache.fill_table(engine.routines.leave[static_cast<std::size_t>(x86_64::Leave::table_empty)]);
    return engine;
}

void find_or_refuse(const StartArgument& argument, const char* path, ProgramFile& file) {
    const auto found = argument.program_fd >= 0 ? find_opened_program(argument.program_fd, file)
                                                : find_program(AT_FDCWD, path, 0, file);
    if (found) return;
    const ProgramError& error = found.error();
    refuse(error.error == ENOENT ? 127 : 126, "cannot run", path,
           error.reason != nullptr ? error.reason : error_text(error.error), "");
}

/// Makes the process's only thread the application's first: signals, identity.
void begin_first_thread(Engine& engine, Thread& thread, const StartArgument& argument) {
    become(thread);
    thread.tid = static_cast<std::int32_t>(kernel_call(__NR_gettid));
    thread.process = argument.process != 0 ? argument.process : new_process(engine, 0);
    if (!new_signal_actions(thread)) refuse(kOwnFailure, "cannot start the engine", "", "no memory", "");
    SignalState& signals = *thread.signals;
    kernel_call(__NR_rt_sigprocmask, 0, 0, address_of(&signals.mask), sizeof signals.mask);
    signals.mask = (signals.mask & ~kEngineSignals) | argument.blocked;
    for (int signal = 1; signal <= kSignals; ++signal) {
        SignalAction action;
        if (signal == 9 || signal == 19) continue;
        kernel_call(__NR_rt_sigaction, static_cast<unsigned>(signal), 0, address_of(&action), sizeof(std::uint64_t));
        signals.actions->set(signal, {action.handler, 0, 0, 0});
        if ((kHandledSignals & signal_bit(signal)) != 0) install(signal, {});
    }
}

/// The run's command is a script: its interpreter takes its place, with the arguments that an exec of it gets.
[[noreturn]] void run_script(Engine& engine, Thread& thread, ProgramFile& file, const StartStack& stack) {
    file.close();
    begin_process(engine, thread, prepare_page(engine, thread.process, 0));
    const char* const path = stack.arguments[2];
    Call call{engine,
              thread,
              __NR_execve,
              {address_of(path), address_of(stack.arguments + kOwnArguments), address_of(stack.environment)},
              0};
    refuse(126, "cannot run", path, error_text(-handlers::execve(call)), "");
}

}  // namespace

}  // namespace anyperf::engine

extern "C" [[noreturn]] void engine_start(std::uint64_t* words) {
    using namespace anyperf::engine;
    const StartStack stack = StartStack::at(words);
    StartArgument argument;
    if (stack.argument_count < kOwnArguments + 1 || !parse_start_argument(stack.arguments[1], argument))
        refuse(kOwnFailure, "this is the engine of anyperf", stack.argument_count > 0 ? stack.arguments[0] : "",
               "it is started by anyperf, not by hand", "anyperf run -- COMMAND");
    Engine& engine = make_engine(argument);
    const char* const path = stack.arguments[2];
    auto* const file = new (reserve_pages(page_up(sizeof(ProgramFile)))) ProgramFile;
    find_or_refuse(argument, path, *file);
    Thread* const thread = new_thread(engine);
    if (thread == nullptr) refuse(kOwnFailure, "cannot start the engine", "", "no memory", "");
    begin_first_thread(engine, *thread, argument);
    if (file->scripts != 0) run_script(engine, *thread, *file, stack);
    if (const auto became = become_program(engine, *file, path, stack, kOwnArguments, thread->registers); !became)
        refuse(126, "cannot run", path, error_text(became.error()), "");
    release_pages(file, page_up(sizeof(ProgramFile)));
    begin_process(
        engine, *thread,
        argument.page < 0 ? prepare_page(engine, thread->process, 0) : static_cast<std::uint32_t>(argument.page));
    attached::begin_process(*thread, true);
    deliver_and_resume(*thread);
}
