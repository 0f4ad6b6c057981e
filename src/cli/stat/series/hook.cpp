#include "cli/stat/series/hook.h"

#include <fmt/format.h>

#include <array>

#include "cli/command/command.h"
#include "try.h"

namespace anyperf::cli::stat {

// A shell runs the text, as system(3) would. Signals are handled as during a run: those from the terminal have reached
// the shell as well, and the others are forwarded to it. A hook that fails ends the series, because the following runs
// would be measured under other conditions.
Result<int> run_hook(const std::string& text, const char* option, BlockedSignals& signals) {
    const std::array<std::string, 3> words{"/bin/sh", "-c", text};
    auto command = TRY(Command::fork(words, signals));
    TRY(command.execute());
    const AwaitedTasks none{{}};
    ExitInfo exit_info;
    int interrupted_by = 0;
    while (!TRY(command.try_wait(exit_info))) {
        wait_for_wakeup(signals, none, std::nullopt);
        while (const auto arrived = signals.next()) {
            if (ends_a_series(arrived->number)) interrupted_by = arrived->number;
            if (!arrived->from_terminal) command.send(arrived->number);
        }
    }
    if (interrupted_by != 0 || exit_info.exit_status == 0) return interrupted_by;
    const std::string end = exit_info.signal != 0 ? fmt::format("signal {} killed it", exit_info.signal)
                                                  : fmt::format("it exited with {}", exit_info.exit_status);
    return std::unexpected(Error{fmt::format("the command of {} failed: {}", option, text), end,
                                 fmt::format("correct it, or leave out {}", option)});
}

}  // namespace anyperf::cli::stat
