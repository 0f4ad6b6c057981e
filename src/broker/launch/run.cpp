// run.cpp: a run from its start to the end of its command.
#include "broker/launch/run.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "broker/launch/code_store.h"
#include "broker/launch/launch.h"
#include "broker/launch/raised_limits.h"
#include "broker/launch/run_settings.h"
#include "broker/launch/signal_forwarding.h"
#include "broker/server.h"
#include "try.h"

namespace anyperf::broker {

Result<RunResult> run(const RunOptions& options) {
    const auto limits = LiftedLimits::lift();
    TRY(check_descriptors());
    RunResult result {
        TRY(make_run_memory(options))
    };
    result.memory.header().limits = limits.memory();
    const CodeStoreTrimmer trimmer{result.memory.header().store_path};
    auto [requests, to_broker] = TRY(make_request_socket());
    // Everything that can fail with a message is done before the fork. The child only executes.
    Launch launch = TRY(Launch::prepare(result.memory, to_broker.get(), options.command));
    launch.set_limits(limits);
    SignalForwarder signals;
    const pid_t child = ::fork();
    if (child < 0)
        return std::unexpected(
            Error{"cannot start " + options.command.front(), "fork: " + std::generic_category().message(errno), ""});
    if (child == 0) {
        signals.restore();
        launch.execute();
        ::_exit(125);  // as env(1): the engine itself could not be executed
    }
    signals.forward_to(child);
    to_broker = OwnedFd{};  // so that the socket reports when the last program is gone
    // The server begins after the fork: requests that the command sends earlier wait in the socket.
    Server server{result.memory, std::move(requests), options.machine};
    result.status = server.serve_until_exit(child);
    return result;
}

}  // namespace anyperf::broker
