// start.cpp: starts a program in a process of the run. The broker, or the engine before an execve, has executed the
// engine instead of the program, with three arguments before the program's own: the engine's name, the state that is
// kept over the exec (start_argument.h), and the program's path.
//
// The steps and their order:
//   1. Parse the arguments before anything is mapped: a user who starts the engine by hand gets a message.
//   2. make_engine(): map the engine's memory, then the run memory. The run's settings (what to count, determinism, the
//      limit of the code cache) decide how the cache and the routines are made.
//   3. Find the program, or end the process with a message and 125, 126 or 127.
//   4. Make the first thread, with the mask and the ignored signals that the exec has kept.
//   5. become_program(): map the image and rewrite the stack.
//   6. Open the process record, call the agent's hooks, and enter the program's first instruction
//      (deliver_and_resume()).
// The page faults of all this are the engine's: kernel_faults() is read first (threads/own_faults.h).
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "engine/dispatch.h"
#include "engine/exact/exact.h"
#include "engine/fail.h"
#include "engine/freestanding/pages.h"
#include "engine/hooks.h"
#include "engine/load/process_image.h"
#include "engine/load/start_argument.h"
#include "engine/own_descriptors.h"
#include "engine/signals/deliver.h"
#include "engine/signals/install.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/memory_limits.h"
#include "engine/threads/exec_memory.h"
#include "engine/threads/own_faults.h"
#include "engine/threads/run_records.h"
#include "engine/threads/thread_memory.h"
#include "engine/time/virtual_clock.h"
#include "engine/tracee_stops.h"
#include "engine/turns/turns.h"
#include "engine/x86_64/cpu/cpuid.h"
#include "engine/x86_64/translate/recover.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kOwnArguments = 3;  // before the program's

/// Makes the vector state with which all signal handlers begin.
bool make_initial_vector_state(Engine& engine) {
    engine.vector_state = x86_64::vector_state_format(engine.run);
    void* const area = reserve_pages(page_up(engine.vector_state.bytes));
    if (area == nullptr) return false;
    x86_64::make_initial_vector_state(area, engine.vector_state);
    kernel_call(__NR_mprotect, address_of(area), page_up(engine.vector_state.bytes), PROT_READ);
    engine.initial_vector_state = area;
    return true;
}

/// From how many blocks on a program gains by paired returns on this CPU (docs/engine.md, "Paired returns"). The CPU
/// predicts the returns of a small program well without pairs, and pairs take more instructions. It predicts those of a
/// large one only if they are paired. On a Zen 4 only compilers, which have no traces, are that large.
std::uint32_t blocks_of_large_program(const run::RunHeader* run) {
    if (x86_64::is_intel(run)) return 24576;
    return x86_64::is_zen_3_or_4(run) ? 131072 : Cache::kNeverPaired;
}

/// Decides from how many blocks on returns are paired with the host's. What is stored has no pads, so a process that
/// stores its translations pairs returns only if it runs for long (Cache::pairs_late).
void decide_about_returns(Engine& engine) {
    if (!x86_64::can_pair_returns(engine.run)) return;
    Cache& cache = engine.cache;
    const std::uint32_t wish = engine.run != nullptr ? engine.run->pair_returns : 0;
    if (wish != 0)
        cache.pair_returns_from = wish == ~std::uint32_t{0} ? Cache::kNeverPaired : wish - 1;
    else
        (engine.store.on() ? cache.pairs_late : cache.pair_returns_from) = blocks_of_large_program(engine.run);
    cache.pairs_returns = cache.pair_returns_from == 0;
}

/// Decides after how many executions a block may become the head of a trace (docs/engine.md, "Traces"). A word of 16
/// bits is added to until it runs over, by a byte with a sign: so once, or from 517 times on.
void decide_about_traces(Engine& engine) {
    constexpr std::uint32_t kUsual = 16384;
    constexpr std::uint32_t kWordEnd = 65536;
    constexpr std::uint32_t kMostHeat = 127;
    if (engine.run == nullptr || engine.cache.pairs_returns) return;
    const std::uint32_t wish = engine.run->traces_from;
    if (wish == ~std::uint32_t{0}) return;
    const std::uint32_t executions = wish == 0 ? kUsual : std::clamp(wish - 1, 1u, kWordEnd);
    // The step is odd. The rounds of a loop are often a power of two; if the number of executions were a multiple of
    // it, a block would always become hot in the last round, and the path would leave the loop.
    const std::uint32_t heat = std::min(kWordEnd / executions | 1, kMostHeat);
    engine.cache.heat = static_cast<std::int8_t>(executions == 1 ? -1 : static_cast<int>(heat));
    engine.tuples.reserve_for_traces();
}

/// Makes the process's Engine, or ends the process with a message.
Engine& make_engine(const StartArgument& argument) {
    add_own_image();
    const std::uint64_t first_mapping = begin_own_area();
    void* const memory = reserve_pages(page_up(sizeof(Engine)));
    if (memory == nullptr) refuse(kOwnFailure, "cannot start the engine", "", "no memory", "");
    auto& engine = *new (memory) Engine;
    engine.program.first_mapping = first_mapping;
    if (argument.run_fd >= 0) {
        if (!map_run_memory(engine, argument.facts_fd, argument.run_fd))
            refuse(kOwnFailure, "cannot start the engine", "", "the memory of the run can't be mapped", "");
        engine.broker_fd = argument.broker_fd;
        engine.engine_fd = argument.engine_fd;
        hide_descriptors(engine);
        engine.cache.byte_limit = engine.run->cache_bytes;
        engine.cache.separate_writes = engine.run->separate_writes != 0;
        engine.counting.open = static_cast<x86_64::ClassSet>(engine.run->counting);
        engine.counting.machine = &engine.run->machine;
        engine.cache.deterministic = engine.run->deterministic != 0;
        const bool complete = engine.run->identity_complete != 0;
        engine.cache.presented = {static_cast<std::uint8_t>(engine.run->cpu_level), !complete,
                                  complete && !x86_64::has_rdtscp(engine.run)};
        // The virtual clock advances by retired instructions (time/virtual_clock.h).
        if (engine.cache.deterministic) engine.counting.open |= x86_64::bit(x86_64::Class::instructions);
        engine.tuples.begin(&engine.threads, engine.run->tuple_limit);
        begin_exact_image(engine);
        engine.user_may_differ = argument.user_may_differ;
        engine.descriptor_signals = argument.shown;
        engine.random.begin(engine.run->seed ^ std::uint64_t{argument.random} << 32);
    }
    const bool reserved = engine.protected_code.reserve() && engine.cache.reserve();
    // Near the first mapping, so that the arena serves the code of the loader and the libraries, too.
    if (reserved) engine.first_arena = x86_64::prepared_arena(engine.cache, first_mapping);
    if (engine.first_arena == nullptr || !emit_routines(*engine.first_arena, engine.routines))
        refuse(kOwnFailure, "cannot start the engine", "", "no address space for the code cache",
               "raise the limit on address space (ulimit -v)");
    if (engine.run != nullptr)
        engine.store.begin(engine.run->store_path, engine.run->cpu_signature, engine.cache, *engine.first_arena);
    engine.routines.dispatch = dispatch;
    engine.routines.deliver = deliver_and_resume;
    if (!make_initial_vector_state(engine))
        refuse(kOwnFailure, "cannot start the engine", "", "no memory for the CPU's vector state", "");
    engine.cache.entries_use_loop = x86_64::loop_is_fast(engine.run);
    decide_about_returns(engine);
    decide_about_traces(engine);
    engine.cache.set_lookup_miss(engine.routines.exit[static_cast<std::size_t>(x86_64::ExitReason::lookup_miss)]);
    return engine;
}

void find_or_refuse(Engine& engine, const StartArgument& argument, const char* path, ProgramFile& file) {
    const DescriptorRoom room{engine};  // the kernel needs no descriptor for a program's files
    const auto found = argument.program_fd >= 0 ? resolve_program(argument.program_fd, true, file)
                                                : find_program(AT_FDCWD, path, 0, file);
    if (found) return;
    // 127: not found; 126: found and not executable (env(1)).
    const ProgramError& error = found.error();
    if (error.error == EMFILE)
        refuse(kOwnFailure, "cannot run", path, "anyperf needs two more descriptors than the program",
               "raise the limit on open files (ulimit -n)");
    refuse(error.error == ENOENT ? 127 : 126, "cannot run", path,
           error.reason != nullptr ? error.reason : error_text(error.error), "");
}

/// The signals that the kernel ignores. Handlers do not survive an exec, so each action is SIG_DFL or SIG_IGN.
std::uint64_t ignored_by_kernel() {
    std::uint64_t ignored = 0;
    for (int signal = 1; signal <= kSignals; ++signal) {
        SignalAction action;
        const long got = kernel_call(__NR_rt_sigaction, static_cast<unsigned>(signal), 0, address_of(&action),
                                     sizeof(std::uint64_t));
        if (!is_error(got) && action.is_ignored()) ignored |= signal_bit(signal);
    }
    return ignored;
}

/// Makes the calling thread the application's first: sets its ids and the state of its signals. The mask and the
/// ignored signals survive an execve.
void begin_first_thread(Engine& engine, Thread& thread, const StartArgument& argument) {
    bind_to_kernel_thread(thread);
    thread.tid = static_cast<std::int32_t>(kernel_call(__NR_gettid));
    thread.process = argument.process != 0 ? argument.process : new_process_record(engine, 0);
    if (!new_signal_actions(thread)) refuse(kOwnFailure, "cannot start the engine", "", "no memory", "");
    SignalState& signals = *thread.signals;
    kernel_call(__NR_rt_sigprocmask, 0, 0, address_of(&signals.mask), sizeof signals.mask);
    signals.mask = (signals.mask & ~kEngineSignals) | argument.blocked;
    const std::uint64_t ignored = argument.knows_ignored ? argument.ignored : ignored_by_kernel();
    for (int signal = 1; signal <= kSignals; ++signal) {
        if ((ignored & signal_bit(signal)) != 0) signals.actions->set(signal, {1, 0, 0, 0});  // SIG_IGN
        if ((kAlwaysCaughtSignals & signal_bit(signal)) != 0) install(signal, {});
    }
}

/// Rounds the modelled cycles of the thread up to a whole one. Otherwise it would depend on what the thread did before
/// the exec at which instruction of the new program a cycle ends, and a sample is taken.
void begin_whole_cycle(Thread& thread) {
    using namespace x86_64;
    const std::uint64_t part = counts_of(thread).count(kCostRow) % kCostUnits;
    if (part != 0) add_count(thread, kCostRow, static_cast<std::int64_t>(kCostUnits - part));
}

/// The number of the thread's page: the one that it had before the exec, or on which its events were opened; else a new
/// one.
std::uint32_t page_of(const Engine& engine, const Thread& thread, const StartArgument& argument) {
    return argument.page < 0 ? prepare_thread_page(engine, thread.process, 0)
                             : static_cast<std::uint32_t>(argument.page);
}

/// The run's command is a script: executes its interpreter instead, through the same code as execve(2).
[[noreturn]] void run_script(Engine& engine, Thread& thread, ProgramFile& file, const StartStack& stack,
                             const StartArgument& argument) {
    file.close();
    open_process_record(engine, thread, page_of(engine, thread, argument));
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
    const std::uint64_t faults_before = kernel_faults();
    const StartStack stack = StartStack::at(words);
    StartArgument argument;
    if (stack.argument_count < kOwnArguments + 1 || !parse_start_argument(stack.arguments[1], argument))
        refuse(kOwnFailure, "this is the engine of anyperf", stack.argument_count > 0 ? stack.arguments[0] : "",
               "it is started by anyperf, not by hand", "anyperf run -- COMMAND");
    Engine& engine = make_engine(argument);
    const char* const path = stack.arguments[2];
    ExecMemory* const exec = take_exec_memory(engine);
    if (exec == nullptr) refuse(kOwnFailure, "cannot start the engine", "", "no memory", "");
    ProgramFile* const file = &exec->file;
    find_or_refuse(engine, argument, path, *file);
    Thread* const thread = new_thread(engine);
    if (thread == nullptr) refuse(kOwnFailure, "cannot start the engine", "", "no memory", "");
    begin_first_thread(engine, *thread, argument);
    if (file->scripts != 0) run_script(engine, *thread, *file, stack, argument);
    if (const auto became = become_program(engine, *file, path, stack, kOwnArguments, thread->registers); !became)
        refuse(126, "cannot run", path, error_text(became.error()), "");
    give_back_exec_memory(engine, exec);
    make_spares(engine);
    open_process_record(engine, *thread, page_of(engine, *thread, argument));
    begin_thread_time(*thread);
    if (exceeds_memory_limits(*thread)) die_by(SIGSEGV);  // as the kernel, past the point of no return of an exec
    begin_whole_cycle(*thread);
    if (turns::on(engine)) turns::begin_program(*thread);  // before records about it are written: it gets its shown id
    hooks::at_process_start(*thread, true);
    handlers::catch_up_with_ids(*thread);
    begin_exact_thread(*thread);
    begin_own_faults(*thread, faults_before);
    stop_after_exec(*thread);
    deliver_and_resume(*thread);
}
