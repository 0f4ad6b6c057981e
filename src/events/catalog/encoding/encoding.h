// encoding.h: the whole of encoding in one call: a catalog string becomes codes and the fields of a perf_event_attr. It
// does not allocate, and any number of threads may encode at once.
//
// It calls read() (request.h), encode() (codes.h) and, for the perf layers, make_perf_fields() (perf_layer.h).
#pragma once

#include <span>
#include <string_view>

#include "events/catalog/encoding/canonical.h"
#include "events/catalog/encoding/codes.h"
#include "events/catalog/encoding/perf_layer.h"
#include "events/catalog/encoding/request.h"

namespace anyperf::catalog {

/// The result. Some 2.5 KB, filled only as far as the string needs; meant for the stack.
struct Encoding {
    explicit Encoding(const MachinePmus& machine) : request(machine) {}

    Request request;
    Codes codes;
    PerfFields perf;  ///< set in the layers perf and perf_ext

    /// Writes the canonical string of an accepted encoding and returns its length; 0 if it does not fit or the event
    /// has none in this layer. `attr` is the structure that `perf` was applied to; unused for Os::none.
    std::size_t canonical(std::span<char> out, const abi::Attr* attr) {
        if (request.os == Os::none) return write_canonical(request, codes, perf, nullptr, out);
        return codes.takes_no_modifiers ? 0 : write_canonical(request, codes, perf, attr, out);
    }
};

/// Reads and encodes `text`. `plm` has the privilege levels (PFM_PLM bits) to count if the string names none.
inline Refusal encode(std::string_view text, unsigned plm, Os os, Encoding& out) {
    RETURN_IF_REFUSED(read(text, os, out.request));
    RETURN_IF_REFUSED(encode(out.request, plm, out.codes));
    if (os == Os::none) return kAccepted;
    return make_perf_fields(out.request, out.codes, plm, out.perf);
}

}  // namespace anyperf::catalog
