// control_channel.h: --control, by which another program enables and disables events during the measurement. The
// program writes lines to one descriptor, and may wait for "ack" on another. perf-stat(1) and perf-record(1) describe
// the protocol. What they leave open is as in perf 6.1 (evlist__ctlfd_process() in tools/perf/util/evlist.c).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::cli {

/// -D -1: the events stay disabled until a command of --control enables them.
inline constexpr std::int64_t kDelayForever = -1;

/// Owns the descriptors that it opened itself, those of FIFOs. Move-only.
class ControlChannel {
  public:
    /// "fd:A[,B]": A and B are numbers of descriptors that the shell has opened; commands come from A, and "ack" goes
    /// to B. "fifo:A[,B]": A and B are paths of FIFOs. Error: the text has another form, or a descriptor or FIFO cannot
    /// be used.
    static Result<ControlChannel> open(const std::string& text);
    ControlChannel(ControlChannel&& other) noexcept;
    ControlChannel& operator=(ControlChannel&&) = delete;
    ~ControlChannel();

    /// Readable when a command may have come. -1: no more commands can come, because every writer has closed its end.
    int fd() const { return commands_; }
    /// The lines that have come since the last call, without their newlines; none if nothing has come. Does not block,
    /// even if the descriptor does.
    std::vector<std::string> read_lines();
    /// Writes "ack\n" if there is a descriptor for it. Failures are ignored: the reader may have gone.
    void acknowledge() const;

  private:
    ControlChannel() = default;

    int commands_ = -1;
    int acknowledgements_ = -1;  ///< -1: not wanted
    bool owned_ = false;         ///< the destructor closes both descriptors
    std::string unfinished_;     ///< the start of a line that has not come completely
};

/// What a line asks for.
enum class ControlCommand {
    enable,
    disable,
    list_events,
    stop,      ///< for record; stat only acknowledges it, as perf does
    snapshot,  ///< for record; stat ignores it, as perf does
    nothing,
};

struct ControlLine {
    ControlCommand command = ControlCommand::nothing;
    std::string event;          ///< of enable and disable; empty: all events
    bool acknowledged = false;  ///< answer with "ack"
};

/// Parses "enable", "disable page-faults", "evlist", "ping" … An unknown line does nothing and is not acknowledged, as
/// in perf.
ControlLine parse_control_line(std::string_view line);

}  // namespace anyperf::cli
