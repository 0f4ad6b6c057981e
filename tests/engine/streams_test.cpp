// streams_test.cpp: random instruction streams end with the same registers, flags, vectors and memory under the engine
// as natively, counted or not, and have the counts of single-stepping. A difference is narrowed down to the first
// instruction after which the two runs differ.
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/command.h"
#include "engine/streams/generator.h"

namespace anyperf::engine_test {
namespace {

constexpr unsigned kInstructions = 120;
constexpr unsigned kStreams = 150;

std::vector<Stream> streams_of(std::uint64_t seed, unsigned count) {
    std::vector<Stream> out;
    out.reserve(count);
    for (unsigned i = 0; i < count; ++i) out.push_back(generate(seed * 1000 + i, kInstructions));
    return out;
}

class RandomStreams : public testing::TestWithParam<std::uint64_t> {
  protected:
    void SetUp() override {
        if (const auto why = engine_missing()) GTEST_SKIP() << *why;
    }

    void write(const std::vector<Stream>& streams) {
        std::ofstream(scratch_.path() / "blob", std::ios::binary) << blob_of(streams);
    }

    Command driver(std::vector<std::string> arguments = {}) {
        arguments.insert(arguments.begin(),
                         {ANYPERF_BINARY_DIR "/tests/stream_driver", (scratch_.path() / "blob").string()});
        Command command{.words = std::move(arguments), .directory = {}};
        command.limit = std::chrono::seconds{20};
        return command;
    }

    /// The first instruction of `stream` after which the native run and the engine differ, with a listing of the
    /// stream.
    std::string first_difference(const std::vector<Stream>& streams, std::size_t stream,
                                 const std::vector<std::string>& options) {
        for (std::size_t length = 1; length <= streams[stream].boundaries.size(); ++length) {
            const Command command = driver({std::to_string(stream), "1", std::to_string(length)});
            const Outcome native = run(command), engine = run(under_engine(command, options));
            if (native.out != engine.out)
                return "the runs differ after instruction " + std::to_string(length - 1) + " of\n" +
                       listing(streams[stream]) + "native\n" + native.out + "engine\n" + engine.out + engine.err;
        }
        return "no difference when the stream is cut short:\n" + listing(streams[stream]);
    }

    void compare(const std::vector<std::string>& options) {
        const auto streams = streams_of(GetParam(), kStreams);
        write(streams);
        const Outcome native = run(driver()), engine = run(under_engine(driver(), options));
        ASSERT_EQ(native.status, 0) << native.out.substr(native.out.size() -
                                                         std::min<std::size_t>(native.out.size(), 300));
        if (engine.out == native.out && engine.status == 0) return;
        for (std::size_t i = 0; i < streams.size(); ++i) {
            const Command one = driver({std::to_string(i), "1"});
            const Outcome alone = run(under_engine(one, options));
            if (alone.out != run(one).out) FAIL() << "stream " << i << ": " << first_difference(streams, i, options);
        }
        FAIL() << "the streams differ when run together, but none does alone; status " << engine.status << "\n"
               << engine.err;
    }

    /// The counts that the command has written; empty if it wrote none.
    nlohmann::json total(const Command& command) {
        std::filesystem::remove(counts_file());
        run(command);
        std::ifstream file(scratch_.path() / "counts");
        return nlohmann::json::parse(file, nullptr, false).value("total", nlohmann::json{});
    }

    nlohmann::json counted_by_engine(const std::vector<std::string>& arguments) {
        return total(under_engine(driver(arguments), {"--count", "--count-to", counts_file()}));
    }

    nlohmann::json counted_by_stepping(const std::vector<std::string>& arguments) {
        Command stepping = driver(arguments);
        stepping.words.insert(stepping.words.begin(),
                              {ANYPERF_BINARY_DIR "/tests/step_count", "--count-to", counts_file(), "--"});
        stepping.limit = std::chrono::seconds{100};  // each step costs two switches of context
        return total(stepping);
    }

    std::string counts_file() const { return (scratch_.path() / "counts").string(); }

    Scratch scratch_;
};

TEST_P(RandomStreams, EndUnderTheEngineAsNatively) {
    compare({});
}

TEST_P(RandomStreams, EndAsNativelyWhileCounted) {
    compare({"--count", "--count-to", "/dev/null"});
}

TEST_P(RandomStreams, HaveTheCountsOfSingleStepping) {
    const auto streams = streams_of(GetParam() + 500, 8);
    write(streams);
    const auto engine = counted_by_engine({});
    const auto stepping = counted_by_stepping({});
    ASSERT_FALSE(engine.empty());
    ASSERT_FALSE(stepping.empty()) << "the stepped run did not end in time";
    if (engine == stepping) return;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const std::vector<std::string> alone{std::to_string(i), "1"};
        EXPECT_EQ(counted_by_engine(alone), counted_by_stepping(alone)) << "stream " << i << ":\n"
                                                                        << listing(streams[i]);
    }
    EXPECT_EQ(engine, stepping);
}

/// The seeds: those of ANYPERF_STREAM_SEEDS, "FIRST-LAST", if it is set.
testing::internal::ParamGenerator<std::uint64_t> seeds() {
    std::uint64_t first = 1;
    std::uint64_t last = 8;
    if (const char* const chosen = std::getenv("ANYPERF_STREAM_SEEDS"))
        if (std::sscanf(chosen, "%" SCNu64 "-%" SCNu64, &first, &last) != 2) std::abort();
    return testing::Range(first, last + 1);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomStreams, seeds());

}  // namespace
}  // namespace anyperf::engine_test
