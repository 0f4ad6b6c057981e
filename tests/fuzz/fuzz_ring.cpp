// fuzz_ring.cpp: any events, samples and readers on a ring. Writes stay inside the ring, records have the size that
// their header states, and a reader that follows the protocol of perf_event_open(2) finds a sequence of complete
// records.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "input.h"
#include "subsystem/shared/overflow.h"
#include "subsystem/shared/sample.h"

namespace {

using anyperf::fuzz::Input;
using namespace anyperf::subsystem;

void require(bool holds) {
    if (!holds) std::abort();
}

/// A ring in an allocation of exactly its size, so that the sanitizer detects an access past its end.
struct Memory {
    explicit Memory(const RingShape& shape)
        : words(new std::uint64_t[kRingPageBytes / 8 * (1 + shape.pages)]()),
          ring{&page, reinterpret_cast<std::byte*>(words.get()), shape.pages * kRingPageBytes} {
        page.pages = shape.pages;
        start_ring(ring, shape);
    }
    RecordHeader header_at(std::uint64_t position) const {
        RecordHeader header;
        for (std::size_t i = 0; i < sizeof header; ++i)
            reinterpret_cast<std::byte*>(&header)[i] = ring.data()[(position + i) & (ring.bytes() - 1)];
        return header;
    }
    RingPage page;
    std::unique_ptr<std::uint64_t[]> words;
    Ring ring;
};

std::size_t copy_stack(void* readable, void* to, std::uint64_t, std::size_t bytes) {
    const std::size_t part = std::min(bytes, *static_cast<std::size_t*>(readable));
    std::memset(to, 0x55, part);
    return part;
}

void shape_event(Input& input, EventPage& event) {
    event.id = input.take<std::uint8_t>();
    event.shape.sample_type = input.take<std::uint64_t>();
    event.shape.read_format = input.take<std::uint8_t>();
    event.shape.flags = input.take<std::uint64_t>();
    event.shape.branch_sample_type = input.take<std::uint32_t>();
    event.shape.sample_regs_user = input.take<std::uint32_t>() & 0xff0fff;
    event.shape.sample_regs_intr = input.take<std::uint32_t>() & 0xff0fff;
    event.shape.sample_stack_user = input.take<std::uint16_t>() & ~7u;
    event.shape.wakeup = input.take<std::uint8_t>();
}

void write_random_sample(Input& input, Memory& memory, EventPage& event) {
    static const std::vector<std::uint64_t> chain(10'000, 0x401000);
    static const std::vector<BranchEntry> branches(64);
    static const std::vector<MemberValue> members(1024);
    static const std::vector<std::byte> raw(70'000);
    static constexpr std::uint64_t registers[24] = {};
    std::size_t readable = input.take<std::uint16_t>();
    SampleFacts facts;
    facts.callchain = std::span{chain}.first(input.below(chain.size()));
    facts.branches = std::span{branches}.first(input.below(branches.size()));
    facts.read.members = std::span{members}.first(1 + input.below(members.size()));
    facts.raw = std::span{raw}.first(input.below(raw.size()));
    if (input.take<std::uint8_t>() & 1) facts.user_registers = facts.interrupted_registers = registers;
    facts.stack = {.pointer = input.take<std::uint64_t>(), .context = &readable, .copy = copy_stack};
    const std::size_t bytes = sample_bytes(event, facts);
    const std::uint64_t lost = event.lost;
    const bool written = write_sample(memory.ring, event, facts).written;
    require(bytes % 8 == 0);
    require(!written || bytes <= kLongestRecord);
    require(written || event.lost == lost + 1 || memory.page.pages == 0);
}

void write_other_record(Input& input, Memory& memory, EventPage& event) {
    static const std::vector<std::byte> body(5000);
    const auto part = std::span{body}.first(input.below(600) * 8);
    write_record(memory.ring, event, {.pid = 1, .tid = 2}, {.type = 3}, part);
}

/// Reads all records from the tail. Only for rings that are not overwritten: those have partly overwritten records.
void read_all(Memory& memory, std::uint64_t& tail) {
    const std::uint64_t head = memory.ring.header().data_head;
    require(head - tail < memory.ring.bytes());
    while (tail != head) {
        const RecordHeader header = memory.header_at(tail);
        require(header.size >= 8 && header.size % 8 == 0 && header.size <= head - tail);
        require(header.type == 2 || header.type == 3 || header.type == 9);
        tail += header.size;
    }
    memory.ring.header().data_tail = tail;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input{data, size};
    const std::uint8_t bits = input.take<std::uint8_t>();
    constexpr std::uint32_t kPages[] = {0, 1, 2, 32};
    const RingShape shape{.pages = kPages[bits & 3],
                          .watermark = input.take<std::uint32_t>(),
                          .overwrite = (bits & 4) != 0,
                          .backward = (bits & 8) != 0};
    const bool misbehaving_reader = bits & 16;
    const bool readable = shape.pages != 0 && !shape.overwrite && !shape.backward && !misbehaving_reader;
    Memory memory{shape};
    EventPage event;
    std::uint64_t tail = 0;
    while (input.more()) {
        switch (input.take<std::uint8_t>() % 5) {
            case 0: shape_event(input, event); break;
            case 1: write_random_sample(input, memory, event); break;
            case 2: write_other_record(input, memory, event); break;
            case 3: memory.page.paused = memory.page.pages == 0 || (input.take<std::uint8_t>() & 1); break;
            case 4:
                if (readable) read_all(memory, tail);
                if (misbehaving_reader) memory.ring.header().data_tail = input.take<std::uint64_t>();
                break;
        }
    }
    if (readable) read_all(memory, tail);
    return 0;
}
