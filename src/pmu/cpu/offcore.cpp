#include "pmu/cpu/offcore.h"

#include <array>
#include <cerrno>

#include "models/quantities.h"
#include "pmu/cpu/quantities.h"
#include "try.h"

namespace anyperf::pmu {
namespace {

using models::Quantity;
using subsystem::Answer;
using subsystem::refuse;
using subsystem::Source;

constexpr std::uint64_t bit(unsigned number) {
    return std::uint64_t{1} << number;
}

/// Who made a request, and what the models count of those.
struct RequestRow {
    std::uint64_t request;
    models::Quantity reached, missed;
};
constexpr std::array kRequests{
    RequestRow{bit(0), Quantity::l3_data_reads, Quantity::l3_data_misses},            // DMND_DATA_RD
    RequestRow{bit(1), Quantity::l3_ownership_reads, Quantity::l3_ownership_misses},  // DMND_RFO
    RequestRow{bit(2), Quantity::l3_code_reads, Quantity::l3_code_misses},            // DMND_CODE_RD
    RequestRow{bit(4), Quantity::l3_prefetches, Quantity::l3_prefetch_misses},        // PF_L2_DATA_RD
};
constexpr std::uint64_t kModelledRequests = bit(0) | bit(1) | bit(2) | bit(4);

/// Requests that the models never make. They may be chosen beside one that they do make, as in ALL_RFO and ALL_READS.
struct EmptyRow {
    std::uint64_t request, beside;
};
constexpr std::array kEmptyRequests{
    EmptyRow{bit(5), bit(1)},   // PF_L2_RFO
    EmptyRow{bit(7), bit(4)},   // PF_L3_DATA_RD
    EmptyRow{bit(8), bit(1)},   // PF_L3_RFO
    EmptyRow{bit(10), bit(4)},  // PF_L1D_AND_SW
    EmptyRow{bit(15), bit(0)},  // OTHER
};
constexpr std::uint64_t kRequestBits = 0xffff;

// Who answered. With kAnyResponse the bits after it have no meaning.
constexpr std::uint64_t kAnyResponse = bit(16);
constexpr std::uint64_t kNoSupplier = bit(17);
constexpr std::uint64_t kL3Hit = bit(18) | bit(19) | bit(20);  ///< modified, exclusive, shared
constexpr std::uint64_t kL3HitForward = bit(21);
constexpr std::uint64_t kL4 = bit(22) | bit(23) | bit(24) | bit(25);
constexpr std::uint64_t kLocalMemory = bit(26);
constexpr std::uint64_t kOtherMemory = bit(27) | bit(28) | bit(29) | bit(30);
constexpr std::uint64_t kEverySnoop = std::uint64_t{0x7f} << 31;
constexpr std::uint64_t kKnownBits = (std::uint64_t{1} << 38) - 1;

Answer<> check_requests(std::uint64_t requests) {
    if ((requests & kModelledRequests) == 0)
        return refuse(EINVAL, "the models make no request of the kinds in config1 (offcore_rsp)");
    std::uint64_t known = kModelledRequests;
    for (const EmptyRow& row : kEmptyRequests)
        if ((requests & row.beside) != 0) known |= row.request;
    if ((requests & ~known) != 0)
        return refuse(EINVAL, "the models don't know some kinds of requests in config1 (offcore_rsp)");
    return {};
}

/// Which requests are counted, by their answer.
struct Answers {
    bool hits = false;
    bool misses = false;
};

Answer<Answers> answers_of(std::uint64_t responses) {
    if ((responses & kAnyResponse) != 0) return Answers{true, true};
    if ((responses & kEverySnoop) != kEverySnoop)
        return refuse(EINVAL, "the models don't know how requests were snooped: config1 must have all snoop bits");
    const std::uint64_t hits = responses & (kL3Hit | kL3HitForward);
    const std::uint64_t misses = responses & (kLocalMemory | kOtherMemory);
    if (hits != 0 && (hits & kL3Hit) != kL3Hit)
        return refuse(EINVAL, "the models don't know the state of a line that L3 had: config1 must have all of L3_HIT");
    if (misses != 0 && (misses & kLocalMemory) == 0)
        return refuse(EINVAL, "the modelled machine has local memory only");
    if (hits == 0 && misses == 0) return refuse(EINVAL, "config1 (offcore_rsp) has no answer that the models give");
    static_assert((kNoSupplier | kL3Hit | kL3HitForward | kL4 | kLocalMemory | kOtherMemory | kEverySnoop |
                   kAnyResponse | kRequestBits) == kKnownBits);
    return Answers{hits != 0, misses != 0};
}

void add(Source& source, Quantity quantity, std::int32_t weight) {
    source.term[source.terms++] = {.counter = Source::kModelled + static_cast<std::uint32_t>(quantity),
                                   .weight = weight};
}

}  // namespace

Answer<Source> offcore_source(std::uint64_t config1) {
    if ((config1 & ~kKnownBits) != 0) return refuse(EINVAL, "config1 (offcore_rsp) has more than 38 bits");
    TRY(check_requests(config1 & kRequestBits));
    const Answers answers = TRY(answers_of(config1 & ~kRequestBits));
    Source source = modelled(kLines, {});
    source.needs_accesses = true;
    for (const RequestRow& row : kRequests) {
        if ((config1 & row.request) == 0) continue;
        if (answers.hits) add(source, row.reached, 1);
        if (answers.hits != answers.misses) add(source, row.missed, answers.misses ? 1 : -1);
    }
    return source;
}

}  // namespace anyperf::pmu
