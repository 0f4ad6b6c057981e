// control_channel.h: lets another program switch events on and off while they are measured (--control). The program
// writes lines to one descriptor, and may wait for "ack" on another. perf-stat(1) and perf-record(1) describe the same,
// and perf 6.1 (evlist__ctlfd_process() in tools/perf/util/evlist.c) decides what the manual leaves open.
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
    /// "fd:A[,B]" are descriptors that the shell has opened: commands come from A, "ack" goes to B. "fifo:A[,B]" are
    /// paths of FIFOs. Error: the text has another form, or a descriptor or FIFO cannot be used.
    static Result<ControlChannel> open(const std::string& text);
    ControlChannel(ControlChannel&& other) noexcept;
    ControlChannel& operator=(ControlChannel&&) = delete;
    ~ControlChannel();

    /// Readable when a command may have come. -1: no more commands can come, since every writer has closed its end.
    int fd() const { return commands_; }
    /// The lines that have come since the last call. The descriptor may block, so it is only read if something is
    /// there.
    std::vector<std::string> read_lines();
    /// Writes "ack\n", if there is a descriptor for it. A reader that is gone, or that does not read, is ignored.
    void acknowledge() const;

  private:
    ControlChannel() = default;

    int commands_ = -1;
    int acknowledgements_ = -1;  ///< -1: not wanted
    bool owned_ = false;         ///< close them at the end
    std::string unfinished_;     ///< the start of a line that has not come completely
};

/// What a line asks for.
enum class ControlCommand {
    enable,
    disable,
    list_events,
    stop,      ///< of record; perf stat only answers it
    snapshot,  ///< of record; perf stat ignores it
    nothing,
};

struct ControlLine {
    ControlCommand command = ControlCommand::nothing;
    std::string event;          ///< of enable and disable; empty: all events
    bool acknowledged = false;  ///< answer with "ack"
};

/// "enable", "disable page-faults", "evlist", "ping" … An unknown line does nothing and has no answer, as in perf.
ControlLine parse_control_line(std::string_view line);

}  // namespace anyperf::cli
