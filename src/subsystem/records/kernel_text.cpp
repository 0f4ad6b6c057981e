#include "subsystem/records/kernel_text.h"

namespace anyperf::subsystem {

Record ksymbol_record(const KernelSymbol& symbol) {
    Record record{record_type("PERF_RECORD_KSYMBOL")};
    record.word(symbol.address).half(symbol.bytes).quarter(symbol.type).quarter(symbol.unregistered ? 1 : 0);
    return record.name(symbol.name);
}

Record bpf_event_record(const BpfProgram& program) {
    return Record{record_type("PERF_RECORD_BPF_EVENT")}
        .quarter(program.type)
        .quarter(0)
        .half(program.id)
        .bytes(program.tag);
}

Record text_poke_record(std::uint64_t address, std::span<const std::byte> before, std::span<const std::byte> after) {
    // The lengths come first, then both texts without a gap; the whole is padded.
    Record record{record_type("PERF_RECORD_TEXT_POKE")};
    record.word(address).quarter(static_cast<std::uint16_t>(before.size()));
    return record.quarter(static_cast<std::uint16_t>(after.size())).bytes(before).bytes(after).padding();
}

}  // namespace anyperf::subsystem
