// run.cpp: see run.h.
#include "broker/run.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "broker/launch.h"
#include "broker/lifted_limits.h"
#include "broker/run_settings.h"
#include "broker/signals.h"

namespace anyperf::broker {

Result<RunResult> run(const RunOptions& options) {
    const auto limits = LiftedLimits::lift();
    RunResult result {
        TRY(make_run_memory(options))
    };
    auto [requests, to_broker] = TRY(request_socket());
    Launch launch = TRY(Launch::prepare(result.memory, to_broker.get(), options.command));
    launch.limit_by(limits);
    SignalsForCommand signals;
    const pid_t child = ::fork();
    if (child < 0)
        return std::unexpected(
            Error{"cannot start " + options.command.front(), "fork: " + std::generic_category().message(errno), ""});
    if (child == 0) {
        signals.restore();
        launch.execute();
        ::_exit(125);
    }
    signals.hand_on_to(child);
    to_broker = OwnedFd{};
    Server server{result.memory, std::move(requests), options.machine};
    result.status = server.serve_until_exit(child);
    return result;
}

}  // namespace anyperf::broker
