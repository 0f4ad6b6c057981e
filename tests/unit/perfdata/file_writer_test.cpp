#include "perfdata/writer/file_writer.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <csignal>
#include <filesystem>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "perfdata/reader.h"
#include "perfdata/writer/byte_writer.h"

namespace anyperf::perfdata {
namespace {

using abi::sample;

/// A file that is removed at the end.
struct TemporaryFile {
    TemporaryFile() : path{::testing::TempDir() + "written." + std::to_string(::getpid()) + ".data"} {}
    ~TemporaryFile() { std::filesystem::remove(path); }
    std::string path;
};

EventInfo event(std::string name, std::vector<std::uint64_t> ids) {
    abi::Attr attr;
    attr.sample_type = sample("PERF_SAMPLE_IDENTIFIER") | sample("PERF_SAMPLE_IP") | sample("PERF_SAMPLE_TID") |
                       sample("PERF_SAMPLE_TIME");
    attr.flags = abi::flag("sample_id_all");
    return {.attr = attr, .ids = std::move(ids), .name = std::move(name), .unit = {}};
}

std::vector<std::byte> sample_record(std::uint64_t id, std::uint64_t time) {
    RecordWriter record{RecordType::sample, kMiscUser};
    record.u64(id).u64(0x1234).u32(5).u32(6).u64(time);
    return record.finish();
}

Facts some_facts() {
    Facts facts;
    facts.host = "machine";
    facts.release = "6.1";
    facts.command_line = {"anyperf", "record", "a b"};
    facts.cpus_available = 2;
    facts.cpus_online = 1;
    facts.memory_kib = 4096;
    facts.core_siblings = {"0-1"};
    facts.thread_siblings = {"0", "1"};
    facts.die_siblings = {"0-1"};
    facts.cpu_places = {{0, 0, 0}, {1, 0, 0}};
    facts.numa_nodes = {{.node = 0, .total_kib = 10, .free_kib = 5, .cpus = "0-1"}};
    facts.pmus = {{"software", "1"}};
    facts.groups = {{"pair", 0, 2}};
    facts.caches = {{1, 64, 8, 4, "Data", "32K", "0"}};
    facts.first_ns = 10;
    facts.last_ns = 99;
    facts.build_ids = {{.pid = 7, .kernel = false, .id = "0123456789abcdef0123456789abcdef01234567", .path = "/bin/a"},
                       {.pid = 0, .kernel = true, .id = "0123456789abcdef", .path = "[kernel.kallsyms]"}};
    facts.events = {event("cycles", {11, 12}), event("page-faults", {21})};
    return facts;
}

/// The times of the samples of each event, in the reader's order.
struct Times : Consumer {
    void sample(const Sample& sample, std::size_t which) override { times.at(which).push_back(sample.time); }
    void record(const Record&) override {}
    std::array<std::vector<std::uint64_t>, 2> times;
};

void write_two_rounds(FileWriter& writer) {
    const auto first = sample_record(11, 20);
    ASSERT_TRUE(writer.write(Bytes{first}.first(12), Bytes{first}.subspan(12)));
    ASSERT_TRUE(writer.write(sample_record(21, 30)));
    RecordWriter mark{RecordType::finished_round, 0};
    ASSERT_TRUE(writer.write_plain(mark.finish()));
    ASSERT_TRUE(writer.write(sample_record(12, 40)));
}

TEST(FileWriter, TheReaderFindsTheRecordsAndFactsThatWereWritten) {
    const TemporaryFile file;
    const Facts written = some_facts();
    auto writer = FileWriter::create(file.path);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->begin(written));
    write_two_rounds(*writer);
    ASSERT_TRUE(writer->finish(written));

    auto reader = Reader::open(file.path);
    ASSERT_TRUE(reader);
    Times got;
    const Summary summary = reader->read(got);
    EXPECT_FALSE(summary.damage);
    EXPECT_EQ(got.times[0], (std::vector<std::uint64_t>{20, 40}));
    EXPECT_EQ(got.times[1], (std::vector<std::uint64_t>{30}));
    const Facts& facts = reader->facts();
    EXPECT_TRUE(facts.damaged.empty());
    EXPECT_EQ(facts.host, "machine");
    EXPECT_EQ(facts.command_line, written.command_line);
    EXPECT_EQ(facts.cpus_online, 1U);
    EXPECT_EQ(facts.thread_siblings, written.thread_siblings);
    ASSERT_EQ(facts.cpu_places.size(), 2U);
    EXPECT_EQ(facts.cpu_places[1].core, 1U);
    EXPECT_EQ(facts.numa_nodes.at(0).cpus, "0-1");
    EXPECT_EQ(facts.groups.at(0).name, "pair");
    EXPECT_EQ(facts.caches.at(0).size, "32K");
    EXPECT_EQ(facts.last_ns, 99U);
    ASSERT_EQ(facts.build_ids.size(), 2U);
    EXPECT_EQ(facts.build_ids[0].id, written.build_ids[0].id);
    EXPECT_EQ(facts.build_ids[1].id, written.build_ids[1].id);
    EXPECT_TRUE(facts.build_ids[1].kernel);
    EXPECT_EQ(reader->events().at(1).name, "page-faults");
}

TEST(FileWriter, CompressedRecordsAreReadBack) {
    const TemporaryFile file;
    auto writer = FileWriter::create(file.path);
    ASSERT_TRUE(writer);
    writer->compress(1);
    ASSERT_TRUE(writer->begin(some_facts()));
    constexpr std::uint64_t kSamples = 100'000;  // several pieces of the compressor
    std::vector<std::byte> all;
    for (std::uint64_t i = 1; i <= kSamples; ++i) {
        const auto record = sample_record(11, i);
        all.insert(all.end(), record.begin(), record.end());
    }
    ASSERT_TRUE(writer->write(all));
    ASSERT_TRUE(writer->finish(some_facts()));
    EXPECT_LT(writer->data_bytes(), all.size() / 2);

    auto reader = Reader::open(file.path);
    ASSERT_TRUE(reader);
    Times got;
    EXPECT_FALSE(reader->read(got).damage);
    EXPECT_EQ(got.times[0].size(), kSamples);
    EXPECT_EQ(reader->facts().compression_limit, Compressor::kPiece);
}

TEST(FileWriter, AFileWithoutItsEndIsReadToItsEnd) {
    const TemporaryFile file;
    {
        auto writer = FileWriter::create(file.path);
        ASSERT_TRUE(writer);
        ASSERT_TRUE(writer->begin(some_facts()));
        write_two_rounds(*writer);
        ASSERT_TRUE(writer->flush());
    }
    auto reader = Reader::open(file.path);
    ASSERT_TRUE(reader);
    Times got;
    reader->read(got);
    EXPECT_EQ(got.times[0].size(), 2U);
}

TEST(FileWriter, AFileThatCannotGrowIsCutAfterAWholeRecordAndHasItsFacts) {
    // RLIMIT_FSIZE instead of a full disk: the write fails in the same place, with EFBIG.
    const TemporaryFile file;
    constexpr rlim_t kLimit = 200'000;
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    ::signal(SIGXFSZ, SIG_IGN);
    auto writer = FileWriter::create(file.path);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->begin(some_facts()));
    const rlimit limit{kLimit, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    std::uint64_t written = 0;
    bool failed = false;
    for (std::uint64_t i = 1; i <= 20'000 && !failed; ++i) {
        failed = !writer->write(sample_record(11, i));
        if (i % 100 == 0) failed = failed || !writer->flush();
        written += failed ? 0 : 1;
    }
    EXPECT_TRUE(failed);
    EXPECT_FALSE(writer->finish(some_facts()));
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_GT(writer->dropped_bytes(), 0U);

    auto reader = Reader::open(file.path);
    ASSERT_TRUE(reader);
    Times got;
    const Summary summary = reader->read(got);
    EXPECT_FALSE(summary.damage);
    EXPECT_EQ(reader->facts().host, "machine");
    ASSERT_FALSE(got.times[0].empty());
    EXPECT_EQ(got.times[0].size(), got.times[0].back());  // none is missing in between
    EXPECT_LE(got.times[0].size(), written);
}

TEST(FileWriter, AFileThatCannotBeCreatedIsAnErrorWithItsName) {
    const auto writer = FileWriter::create("/nonexistent/perf.data");
    ASSERT_FALSE(writer);
    EXPECT_NE(writer.error().what.find("/nonexistent/perf.data"), std::string::npos);
}

}  // namespace
}  // namespace anyperf::perfdata
