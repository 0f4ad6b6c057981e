// encoding.h: a string in, codes and the fields of a perf_event_attr out. The whole of encoding in one call, without
// allocation, for any number of threads at once.
#pragma once

#include <span>
#include <string_view>

#include "events/catalog/canonical.h"
#include "events/catalog/codes.h"
#include "events/catalog/perf_layer.h"
#include "events/catalog/request.h"

namespace anyperf::catalog {

/// Some 4 KB, filled only as far as the string goes; meant for the stack.
struct Encoding {
    explicit Encoding(const Machine& machine) : request(machine) {}

    Request request;
    Codes codes;
    PerfFields perf;  ///< of the layers perf and perf_ext

    /// The canonical string of an accepted encoding; its length, 0 where it does not fit or the layer has none. `attr`:
    /// the structure that `perf` was applied to; not looked at for Os::none.
    std::size_t canonical(std::span<char> out, const abi::Attr* attr) {
        if (request.os == Os::none) return write_canonical(request, codes, perf, nullptr, out);
        return codes.bare ? 0 : write_canonical(request, codes, perf, attr, out);
    }
};

/// Reads and encodes `text`. `plm`: default privilege levels (PFM_PLM bits) where the string names none.
inline Refusal encode(std::string_view text, unsigned plm, Os os, Encoding& out) {
    REFUSE_IF_REFUSED(read(text, os, out.request));
    REFUSE_IF_REFUSED(encode(out.request, plm, out.codes));
    if (os == Os::none) return kAccepted;
    return make_perf_fields(out.request, out.codes, plm, out.perf);
}

}  // namespace anyperf::catalog
