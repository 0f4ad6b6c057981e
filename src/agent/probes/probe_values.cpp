// probe_values.cpp: the fetch arguments of uprobe_events (Documentation/trace/uprobetracer.rst of Linux), which the
// broker has translated to steps. There are two passes: the first writes all fixed fields, the second the texts, which
// follow them in the record. Each count in the definition is limited to the size of its array.
#include "agent/probes/probe_values.h"

#include <algorithm>

#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::at_address;
using engine::Thread;
using engine::x86_64::guarded_copy;
using subsystem::ProbeRecord;
using subsystem::ProbeValue;

namespace {

constexpr std::size_t kLongestText = 256;  ///< with its NUL

/// `bytes` bytes at the address, extended with zeros; 0 if they cannot be read.
std::uint64_t read_word(std::uint64_t address, std::size_t bytes = sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    return guarded_copy(&word, at_address<const void>(address), bytes) ? word : 0;
}

std::uint64_t register_of(const Thread& thread, std::uint8_t number) {
    if (number < engine::x86_64::kRegisters) return thread.registers.r[number];
    return number == engine::x86_64::kRegisters ? thread.registers.rip : thread.registers.flags;
}

/// The value before its dereferences. For `comm` it is the address of the thread's name.
std::uint64_t first_value(const Thread& thread, const ProbeValue& value) {
    switch (value.from) {
        case ProbeValue::From::reg: return register_of(thread, value.reg);
        case ProbeValue::From::stack:
            return read_word(thread.registers.r[engine::x86_64::rsp] + 8 * static_cast<std::uint64_t>(value.number));
        case ProbeValue::From::number: return static_cast<std::uint64_t>(value.number);
        case ProbeValue::From::comm: break;
    }
    return engine::address_of(thread.page.comm);
}

/// The value after all its dereferences; for a text, its address.
std::uint64_t fetch(const Thread& thread, const ProbeValue& value) {
    std::uint64_t now = first_value(thread, value);
    const std::size_t steps = std::min<std::size_t>(value.steps, ProbeValue::kSteps);
    for (std::size_t i = 0; i < steps; ++i) {
        now += static_cast<std::uint64_t>(value.step[i]);
        const bool last = i + 1 == steps;
        if (!last) now = read_word(now);
        if (last && value.bytes != 0) now = read_word(now, std::min<std::size_t>(value.bytes, sizeof now));
    }
    return now;
}

/// Appends the text at this address to the record, and writes its __data_loc to the value's field at `offset`.
void put_text(RawRecord& raw, std::uint64_t address, std::size_t offset) {
    char text[kLongestText];
    std::size_t bytes = 0;
    while (bytes < kLongestText && guarded_copy(text + bytes, at_address<const char>(address + bytes), 1))
        if (text[bytes++] == 0) break;
    if (bytes != 0) text[bytes - 1] = 0;
    raw.patch(offset, RawRecord::data_loc(raw.size(), bytes));
    raw.put(text, bytes);
}

}  // namespace

void put_probe_values(RawRecord& raw, const Thread& thread, std::uint32_t record) {
    if (record == 0 || record >= subsystem::kMaximumProbeRecords) return;
    const ProbeRecord& known = existing_process(*thread.engine)->probe_records[record];
    const std::size_t values = std::min<std::size_t>(known.values, ProbeRecord::kValues);
    std::uint64_t fetched[ProbeRecord::kValues];
    for (std::size_t i = 0; i < values; ++i) {
        fetched[i] = fetch(thread, known.value[i]);
        const std::size_t bytes = std::min<std::size_t>(known.value[i].bytes, sizeof fetched[i]);
        if (bytes == 0)
            // Reserves a __data_loc. put_text() fills it in when it knows where the text begins.
            raw.put(std::uint32_t{0});
        else
            raw.put(&fetched[i], bytes);
    }
    for (std::size_t i = 0; i < values; ++i)
        if (known.value[i].bytes == 0) put_text(raw, fetched[i], known.value[i].offset);
}

}  // namespace anyperf::agent
