// sample.cpp: reads the fields of a record's body in the order that the manual gives.
#include "suite/sample.h"

#include <bit>
#include <cstring>

#include "suite/expect.h"

namespace conformance {

namespace {

/// Reads a record's body from the start; ends the case if the body is too short.
class Cursor {
  public:
    explicit Cursor(const std::vector<char>& bytes) : bytes_{bytes} {}

    template <typename T>
    T read() {
        T value{};
        std::memcpy(&value, advance(sizeof value), sizeof value);
        return value;
    }
    std::uint64_t u64() { return read<std::uint64_t>(); }
    std::uint32_t u32() { return read<std::uint32_t>(); }
    std::vector<std::uint64_t> words(std::size_t count) {
        std::vector<std::uint64_t> all(count <= left() / 8 ? count : 0);
        if (all.size() != count) advance(left() + 1);  // the body is too short: ends the case
        for (std::uint64_t& word : all) word = u64();
        return all;
    }
    std::string text(std::size_t bytes) { return {advance(bytes), bytes}; }
    std::size_t left() const { return bytes_.size() - at_; }

  private:
    const char* advance(std::size_t bytes) {
        if (left() < bytes) fail("sample", std::to_string(bytes) + " more bytes", std::to_string(left()));
        at_ += bytes;
        return bytes_.data() + at_ - bytes;
    }

    const std::vector<char>& bytes_;
    std::size_t at_ = 0;
};

std::vector<std::uint64_t> read_read_field(Cursor& cursor, std::uint64_t format) {
    if ((format & PERF_FORMAT_GROUP) == 0) return cursor.words(read_words(format, 1));
    std::vector<std::uint64_t> all{cursor.u64()};
    for (const std::uint64_t word : cursor.words(read_words(format, all[0]) - 1)) all.push_back(word);
    return all;
}

void read_branches(Cursor& cursor, const Attr& attr, Sample& sample) {
    const std::uint64_t count = cursor.u64();
    if ((attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) != 0) cursor.u64();
    for (std::uint64_t i = 0; i < count; ++i) sample.branches.push_back(cursor.read<Branch>());
}

void read_registers(Cursor& cursor, std::uint64_t mask, std::uint64_t& abi, std::vector<std::uint64_t>& values) {
    abi = cursor.u64();
    if (abi != PERF_SAMPLE_REGS_ABI_NONE) values = cursor.words(static_cast<std::size_t>(std::popcount(mask)));
}

void read_stack(Cursor& cursor, Sample& sample) {
    sample.stack_size = cursor.u64();
    if (sample.stack_size == 0) return;
    sample.stack = cursor.text(sample.stack_size);
    sample.stack_dynamic = cursor.u64();
}

void read_head(Cursor& cursor, std::uint64_t type, Sample& sample) {
    if (type & PERF_SAMPLE_IDENTIFIER) sample.identifier = cursor.u64();
    if (type & PERF_SAMPLE_IP) sample.ip = cursor.u64();
    if (type & PERF_SAMPLE_TID) {
        sample.pid = cursor.u32();
        sample.tid = cursor.u32();
    }
    if (type & PERF_SAMPLE_TIME) sample.time = cursor.u64();
    if (type & PERF_SAMPLE_ADDR) sample.address = cursor.u64();
    if (type & PERF_SAMPLE_ID) sample.id = cursor.u64();
    if (type & PERF_SAMPLE_STREAM_ID) sample.stream_id = cursor.u64();
    if (type & PERF_SAMPLE_CPU) {
        sample.cpu = cursor.u32();
        sample.cpu_reserved = cursor.u32();
    }
    if (type & PERF_SAMPLE_PERIOD) sample.period = cursor.u64();
}

void read_tail(Cursor& cursor, std::uint64_t type, Sample& sample) {
    if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)) sample.weight = cursor.u64();
    if (type & PERF_SAMPLE_DATA_SRC) sample.data_source = cursor.u64();
    if (type & PERF_SAMPLE_TRANSACTION) sample.transaction = cursor.u64();
}

void read_pages(Cursor& cursor, std::uint64_t type, Sample& sample) {
    if (type & PERF_SAMPLE_PHYS_ADDR) sample.physical = cursor.u64();
    if (type & PERF_SAMPLE_CGROUP) sample.cgroup = cursor.u64();
    if (type & PERF_SAMPLE_DATA_PAGE_SIZE) sample.data_page_size = cursor.u64();
    if (type & PERF_SAMPLE_CODE_PAGE_SIZE) sample.code_page_size = cursor.u64();
    if (type & PERF_SAMPLE_AUX) sample.aux = cursor.text(cursor.u64());
}

}  // namespace

std::size_t read_words(std::uint64_t format, std::size_t members) {
    const auto has = [&](std::uint64_t bit) { return static_cast<std::size_t>((format & bit) != 0); };
    const std::size_t times = has(PERF_FORMAT_TOTAL_TIME_ENABLED) + has(PERF_FORMAT_TOTAL_TIME_RUNNING);
    return has(PERF_FORMAT_GROUP) + times + members * (1 + has(PERF_FORMAT_ID) + has(PERF_FORMAT_LOST));
}

Sample parse_sample(const Attr& attr, const Record& record) {
    want_equal("record type", record.type, std::uint32_t{PERF_RECORD_SAMPLE});
    const std::uint64_t type = attr.sample_type;
    Cursor cursor{record.body};
    Sample sample;
    read_head(cursor, type, sample);
    if (type & PERF_SAMPLE_READ) sample.read = read_read_field(cursor, attr.read_format);
    if (type & PERF_SAMPLE_CALLCHAIN) sample.callchain = cursor.words(cursor.u64());
    if (type & PERF_SAMPLE_RAW) sample.raw = cursor.text(cursor.u32());
    if (type & PERF_SAMPLE_BRANCH_STACK) read_branches(cursor, attr, sample);
    if (type & PERF_SAMPLE_REGS_USER)
        read_registers(cursor, attr.sample_regs_user, sample.user_abi, sample.user_registers);
    if (type & PERF_SAMPLE_STACK_USER) read_stack(cursor, sample);
    read_tail(cursor, type, sample);
    if (type & PERF_SAMPLE_REGS_INTR)
        read_registers(cursor, attr.sample_regs_intr, sample.intr_abi, sample.intr_registers);
    read_pages(cursor, type, sample);
    sample.left_over = cursor.left();
    return sample;
}

std::vector<Sample> parse_samples(const Attr& attr, const std::vector<Record>& records) {
    std::vector<Sample> samples;
    for (const Record& record : only(records, PERF_RECORD_SAMPLE)) samples.push_back(parse_sample(attr, record));
    return samples;
}

std::size_t trailer_bytes(const Attr& attr) {
    constexpr std::uint64_t kBits = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                                    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
    return 8 * static_cast<std::size_t>(std::popcount(attr.sample_type & kBits));
}

SampleId parse_trailer(const Attr& attr, const Record& record) {
    const std::size_t bytes = trailer_bytes(attr);
    want_at_least("body of record " + std::to_string(record.type), record.body.size(), bytes);
    const std::vector<char> tail(record.body.end() - static_cast<std::ptrdiff_t>(bytes), record.body.end());
    Cursor cursor{tail};
    SampleId trailer;
    const std::uint64_t type = attr.sample_type;
    if (type & PERF_SAMPLE_TID) {
        trailer.pid = cursor.u32();
        trailer.tid = cursor.u32();
    }
    if (type & PERF_SAMPLE_TIME) trailer.time = cursor.u64();
    if (type & PERF_SAMPLE_ID) trailer.id = cursor.u64();
    if (type & PERF_SAMPLE_STREAM_ID) trailer.stream_id = cursor.u64();
    if (type & PERF_SAMPLE_CPU) {
        trailer.cpu = cursor.u32();
        trailer.cpu_reserved = cursor.u32();
    }
    if (type & PERF_SAMPLE_IDENTIFIER) trailer.identifier = cursor.u64();
    return trailer;
}

}  // namespace conformance
