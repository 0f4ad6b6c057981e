// encoding.cpp: pfm_get_os_event_encoding(3) and the two calls that it replaced, pfm_get_event_encoding(3) and
// pfm_get_perf_event_encoding(3); pfm_find_event(3). Two encodings: the raw codes of the PMU's registers (PFM_OS_NONE)
// and the fields of a perf_event_attr (PFM_OS_PERF_EVENT, _EXT).
//
// The caller's memory is written on success only, and of an attr only as many bytes as its `size` says. Strings and
// arrays for the caller come from malloc(3): the caller frees them.
//
// libpfm4 is the reference for all that the manual leaves open, because programs rely on it: which of two errors is
// returned, that a failed call leaves `fstr` and `codes` as they were, and that canonical strings show raw masks cut to
// 32 bits (short_raw_masks). tests/clients/pfm compares both libraries.
#include "events/catalog/encoding/encoding.h"

#include <perfmon/pfmlib_perf_event.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "pfm/library.h"
#include "pfm/structures.h"

namespace anyperf::pfm {

namespace {

using catalog::Encoding;
using catalog::ErrorCode;
using catalog::Os;

constexpr unsigned kKnownLevels = 0x1f;  // PFM_PLM0 to PFM_PLMH
constexpr std::size_t kFirstAttr = 64;   // PERF_ATTR_SIZE_VER0, the meaning of an attr.size of 0
/// The size from which on an attr has config2, the only field that an encoding sets after the first version's.
constexpr std::size_t kThroughConfig2 = offsetof(abi::Attr, config2) + sizeof(std::uint64_t);
static_assert(offsetof(abi::Attr, config2) == kFirstAttr);

int number_of(ErrorCode code) {
    return static_cast<int>(code);
}

/// The event's number in the interface, for the `idx` of an answer.
int event_number_of(const Encoding& encoding) {
    return event_number(encoding.request.pmu->id, encoding.request.private_index);
}

/// A copy of `count` elements in malloc'ed memory for `room` elements; nullptr if there is no memory.
template <class T>
T* copied(const T* from, std::size_t count, std::size_t room) {
    T* copy = static_cast<T*>(std::malloc(room * sizeof(T)));
    if (copy != nullptr) std::copy_n(from, count, copy);
    return copy;
}

/// Stores the canonical string, in malloc'ed memory, in `*out`. If the event has none, `*out` does not change. `out`
/// may be null.
ErrorCode copy_canonical(Encoding& encoding, const abi::Attr* attr, char** out) {
    if (out == nullptr) return ErrorCode::success;
    std::array<char, catalog::kCanonicalBytes> text;
    const std::size_t length = encoding.canonical(text, attr);
    if (length == 0) return ErrorCode::success;
    char* copy = copied(text.data(), length, length + 1);
    if (copy == nullptr) return ErrorCode::no_memory;
    copy[length] = '\0';
    *out = copy;
    return ErrorCode::success;
}

/// PFM_OS_NONE. If the caller passes no array, one is allocated.
ErrorCode encode_raw(const Session& session, const char* text, unsigned plm, pfm_pmu_encode_arg_t& argument) {
    Encoding encoding{session.machine()};
    encoding.request.short_raw_masks = true;
    if (const auto refusal = catalog::encode(text, plm, Os::none, encoding); refusal.refused()) return refusal.code;
    const std::size_t count = encoding.codes.count;
    if (argument.codes != nullptr && (argument.count < 0 || static_cast<std::size_t>(argument.count) < count))
        return ErrorCode::too_small;
    std::uint64_t* codes = argument.codes;
    if (codes == nullptr) codes = copied(encoding.codes.codes.data(), count, count);
    if (codes == nullptr) return ErrorCode::no_memory;
    if (const ErrorCode code = copy_canonical(encoding, nullptr, argument.fstr); code != ErrorCode::success) {
        if (argument.codes == nullptr) std::free(codes);
        return code;
    }
    std::copy_n(encoding.codes.codes.data(), count, codes);
    argument.codes = codes;
    argument.count = static_cast<int>(count);
    argument.idx = event_number_of(encoding);
    return ErrorCode::success;
}

/// Sets the encoded fields in the caller's attr, and reads and writes no more of it than its `size` says. Optional
/// fields that the string does not give (config1, period, precise) keep the caller's values.
void write_fields(catalog::PerfFields& fields, perf_event_attr& out) {
    const std::size_t room = out.size == 0 ? kFirstAttr : out.size;
    if (room < kThroughConfig2) fields.config2.reset();
    if (room >= kFirstAttr)
        return fields.apply(reinterpret_cast<abi::Attr&>(out));  // all fields but config2 are in the first version
    abi::Attr attr;
    std::memcpy(static_cast<void*>(&attr), &out, room);
    fields.apply(attr);
    std::memcpy(&out, &attr, room);
}

/// The canonical string for the caller's attr with the encoded fields set: it shows what would be opened.
ErrorCode copy_canonical_of_perf(Encoding& encoding, const perf_event_attr& now, char** out) {
    if (out == nullptr) return ErrorCode::success;
    abi::Attr attr;
    std::memcpy(static_cast<void*>(&attr), &now,
                now.size == 0 ? kFirstAttr : std::min<std::size_t>(now.size, sizeof attr));
    encoding.perf.apply(attr);
    return copy_canonical(encoding, &attr, out);
}

/// PFM_OS_PERF_EVENT and PFM_OS_PERF_EVENT_EXT.
ErrorCode encode_perf(const Session& session, const char* text, unsigned plm, Os os, pfm_perf_encode_arg_t& argument) {
    if (!session.machine().has_perf_events()) return ErrorCode::not_supported;
    Encoding encoding{session.machine()};
    encoding.request.wants_canonical = argument.fstr != nullptr;
    encoding.request.short_raw_masks = true;
    if (const auto refusal = catalog::encode(text, plm, os, encoding); refusal.refused()) return refusal.code;
    const ErrorCode code = copy_canonical_of_perf(encoding, *argument.attr, argument.fstr);
    if (code != ErrorCode::success) return code;
    write_fields(encoding.perf, *argument.attr);
    argument.idx = event_number_of(encoding);
    argument.cpu = encoding.perf.cpu;
    return ErrorCode::success;
}

/// Whether `plm` has no undefined privilege levels. Undefined bits are refused, so that a later version of the
/// interface can give them a meaning.
bool known_levels(int plm) {
    return (static_cast<unsigned>(plm) & ~kKnownLevels) == 0;
}

/// Dispatches by `os`, which also decides the type that `argument` points to.
ErrorCode encode_for_os(const Session& session, const char* text, unsigned plm, pfm_os_t os, void* argument) {
    if (os == PFM_OS_NONE) {
        auto& raw = *static_cast<pfm_pmu_encode_arg_t*>(argument);
        if (!acceptable_size(&raw, raw.size, sizeof raw)) return ErrorCode::invalid;
        return encode_raw(session, text, plm, raw);
    }
    if (os != PFM_OS_PERF_EVENT && os != PFM_OS_PERF_EVENT_EXT) return ErrorCode::not_supported;
    auto& perf = *static_cast<pfm_perf_encode_arg_t*>(argument);
    if (!acceptable_size(&perf, perf.size, sizeof perf) || perf.attr == nullptr) return ErrorCode::invalid;
    return encode_perf(session, text, plm, os == PFM_OS_PERF_EVENT ? Os::perf : Os::perf_ext, perf);
}

}  // namespace

}  // namespace anyperf::pfm

using anyperf::catalog::ErrorCode;
using anyperf::pfm::number_of;
using anyperf::pfm::Session;

extern "C" {

pfm_err_t pfm_get_os_event_encoding(const char* str, int dfl_plm, pfm_os_t os, void* args) {
    const Session session;
    if (!session.initialized()) return PFM_ERR_NOINIT;
    if (str == nullptr || args == nullptr || !anyperf::pfm::known_levels(dfl_plm)) return PFM_ERR_INVAL;
    return number_of(anyperf::pfm::encode_for_os(session, str, static_cast<unsigned>(dfl_plm), os, args));
}

// The caller either passes an array with its length, or null and 0, and gets an array. Anything between is an error.
pfm_err_t pfm_get_event_encoding(const char* str, int dfl_plm, char** fstr, int* idx, uint64_t** codes, int* count) {
    const Session session;
    if (!session.initialized()) return PFM_ERR_NOINIT;
    if (str == nullptr || codes == nullptr || count == nullptr) return PFM_ERR_INVAL;
    if ((*codes != nullptr) != (*count > 0) || !anyperf::pfm::known_levels(dfl_plm)) return PFM_ERR_INVAL;
    pfm_pmu_encode_arg_t argument{*codes, fstr, sizeof argument, *count, 0};
    const ErrorCode code = anyperf::pfm::encode_raw(session, str, static_cast<unsigned>(dfl_plm), argument);
    if (code != ErrorCode::success) return number_of(code);
    *codes = argument.codes;
    *count = argument.count;
    if (idx != nullptr) *idx = argument.idx;
    return PFM_SUCCESS;
}

pfm_err_t pfm_get_perf_event_encoding(const char* str, int dfl_plm, struct perf_event_attr* output, char** fstr,
                                      int* idx) {
    const Session session;
    if (!session.initialized()) return PFM_ERR_NOINIT;
    if (str == nullptr || output == nullptr || !anyperf::pfm::known_levels(dfl_plm)) return PFM_ERR_INVAL;
    pfm_perf_encode_arg_t argument{output, fstr, sizeof argument, 0, 0, 0, 0};
    const auto plm = static_cast<unsigned>(dfl_plm);
    const ErrorCode code = anyperf::pfm::encode_perf(session, str, plm, anyperf::catalog::Os::perf_ext, argument);
    if (code == ErrorCode::success && idx != nullptr) *idx = argument.idx;
    return number_of(code);
}

// The string is read, but nothing is encoded.
int pfm_find_event(const char* str) {
    const Session session;
    if (!session.initialized()) return PFM_ERR_NOINIT;
    if (str == nullptr) return PFM_ERR_INVAL;
    anyperf::catalog::Request request{session.machine()};
    const auto refusal = anyperf::catalog::read(str, anyperf::catalog::Os::none, request);
    if (refusal.refused()) return number_of(refusal.code);
    return anyperf::pfm::event_number(request.pmu->id, request.private_index);
}
}
