// start.cpp: a process of the run begins. The engine was executed instead of a program, with three arguments in front
// of the program's own: its name, what it takes over from before the exec (state.h), and the program's path.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <new>

#include "engine/dispatch.h"
#include "engine/fail.h"
#include "engine/freestanding/pages.h"
#include "engine/load/process_image.h"
#include "engine/start_argument.h"
#include "engine/thread_memory.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kOwnArguments = 3;

Engine& make_engine(const StartArgument& argument) {
    void* const memory = reserve_pages(page_up(sizeof(Engine)));
    if (memory == nullptr) refuse(kOwnFailure, "cannot start the engine", "", "no memory", "");
    auto& engine = *new (memory) Engine;
    engine.run_fd = argument.run_fd;
    engine.process = argument.process;
    if (!engine.cache.reserve() ||
        (engine.arena_near_engine = engine.cache.arena_for(address_of(&engine))) == nullptr ||
        !emit_routines(*engine.arena_near_engine, engine.routines))
        refuse(kOwnFailure, "cannot start the engine", "", "no address space for the code cache",
               "raise the limit on address space (ulimit -v)");
    engine.cache.fill_table(engine.routines.leave[static_cast<std::size_t>(x86_64::Leave::table_empty)]);
    return engine;
}

void find_or_refuse(const StartArgument& argument, const char* path, ProgramFile& file) {
    const auto found = argument.program_fd >= 0 ? find_program(argument.program_fd, "", AT_EMPTY_PATH, file)
                                                : find_program(AT_FDCWD, path, 0, file);
    if (argument.program_fd >= 0) kernel_call(__NR_close, static_cast<unsigned>(argument.program_fd));
    if (found) return;
    const ProgramError& error = found.error();
    refuse(error.error == ENOENT ? 127 : 126, "cannot run", path,
           error.reason != nullptr ? error.reason : error_text(error.error), "");
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
    become(*thread);
    thread->tid = static_cast<std::uint32_t>(kernel_call(__NR_gettid));
    thread->leader = true;
    if (const auto became = become_program(engine, *file, path, stack, kOwnArguments, thread->registers); !became)
        refuse(126, "cannot run", path, error_text(became.error()), "");
    release_pages(file, page_up(sizeof(ProgramFile)));
    resume(*thread);
}
