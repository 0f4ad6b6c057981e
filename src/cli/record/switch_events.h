// switch_events.h: the events of --switch-output-event. They are not recorded: when one happens, the recording goes on
// in another file.
#pragma once

#include <utility>
#include <vector>

#include "anyperf/error.h"
#include "anyperf/event.h"
#include "recording/open_set.h"
#include "recording/ring_source.h"

namespace anyperf::cli::record {

/// Owns the events and their rings. The ring source must outlive it.
class SwitchEvents {
  public:
    /// Opens the events where those of `like` are. `on_exec`: the command's exec starts them; else they are on at once.
    /// Error: one of them was refused, or has no period, so that it is not known how often to switch.
    static Result<SwitchEvents> open(recording::RingSource& rings, recording::OpenRequest like,
                                     const std::vector<events::EventGroup>& groups, bool on_exec);

    /// Whether one of them has happened since the last call.
    bool take_happened();

  private:
    explicit SwitchEvents(recording::OpenSet events) : events_(std::move(events)) {}

    recording::OpenSet events_;
};

}  // namespace anyperf::cli::record
