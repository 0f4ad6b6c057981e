// sample.h: parses PERF_RECORD_SAMPLE and the sample_id trailer of other records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "suite/event.h"
#include "suite/ring.h"

namespace conformance {

/// One entry of a branch stack.
struct Branch {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint64_t flags = 0;
};

/// The fields of one sample; a field that sample_type does not request is 0 or empty.
struct Sample {
    std::uint64_t identifier = 0, ip = 0, time = 0, address = 0, id = 0, stream_id = 0, period = 0;
    std::uint32_t pid = 0, tid = 0, cpu = 0, cpu_reserved = 0;
    std::vector<std::uint64_t> read;       ///< all words of the `struct read_format`
    std::vector<std::uint64_t> callchain;  ///< without nr
    std::string raw;
    std::vector<Branch> branches;
    std::uint64_t user_abi = 0, intr_abi = 0;
    std::vector<std::uint64_t> user_registers, intr_registers;
    std::uint64_t stack_size = 0, stack_dynamic = 0;
    std::string stack;
    std::uint64_t weight = 0, data_source = 0, transaction = 0, physical = 0, cgroup = 0;
    std::uint64_t data_page_size = 0, code_page_size = 0;
    std::string aux;
    std::size_t left_over = 0;  ///< bytes of the record after the last field
};

/// Ends the case if the record is shorter than its fields.
Sample parse_sample(const Attr& attr, const Record& record);
/// Parses the samples among `records`.
std::vector<Sample> parse_samples(const Attr& attr, const std::vector<Record>& records);

/// The fields of a sample_id trailer.
struct SampleId {
    std::uint32_t pid = 0, tid = 0, cpu = 0, cpu_reserved = 0;
    std::uint64_t time = 0, id = 0, stream_id = 0, identifier = 0;
};

/// The trailer that sample_id_all appends to every record but SAMPLE.
SampleId parse_trailer(const Attr& attr, const Record& record);
/// The size of that trailer.
std::size_t trailer_bytes(const Attr& attr);

/// The number of 64-bit words that read(2) returns for a group of `members` events, or for one event.
std::size_t read_words(std::uint64_t format, std::size_t members);

}  // namespace conformance
