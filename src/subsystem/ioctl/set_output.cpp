#include "subsystem/ioctl/set_output.h"

#include "subsystem/output/output.h"
#include "subsystem/shared/ring.h"
#include "try.h"

namespace anyperf::subsystem {

// perf_event_set_output(): -1 ends the redirection; another event's descriptor begins one.
Answer<IoctlAnswer> ioctl_set_output(const IoctlCall& call) {
    const Descriptor& named = call.argument.descriptor;
    if (named.none) {
        if (call.event.mappings != 0) return refuse(EINVAL, "the event's own ring is mapped");
        drop_ring(call.world, call.event);
        return IoctlAnswer{};
    }
    if (!named.event) return refuse(EBADF, "not the descriptor of an event");
    const Event* const target = call.world.find_opened(*named.event);
    if (!target) return refuse(EBADF, "the other event has ended");
    TRY(check_output(call.world, call.event, *target));
    redirect(call.world, call.event, *target);
    return IoctlAnswer{};
}

// _perf_ioctl(), PAUSE_OUTPUT. In practice only rings that overwrite are paused, but the kernel pauses any.
Answer<IoctlAnswer> ioctl_pause_output(const IoctlCall& call) {
    const RingIndex ring = call.event.ring;
    if (ring == 0 || call.world.host.ring_memory(ring).size() <= kRingPageBytes)
        return refuse(EINVAL, "the event has no ring with data");
    RingPage& page = call.world.host.ring_page(ring);
    const SubsystemLock held(call.world, page.lock);
    page.paused = call.argument.word != 0;
    return IoctlAnswer{};
}

}  // namespace anyperf::subsystem
