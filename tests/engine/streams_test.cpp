// streams_test.cpp: random instruction streams end with the same registers, flags, vectors and memory natively and
// under the engine, whether or not it counts, and count what single-stepping counts. A difference is narrowed down to
// the first instruction behind which the two runs part.
#include <gtest/gtest.h>

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

class Streams : public testing::TestWithParam<std::uint64_t> {
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

    /// The first instruction of `stream` behind which native and engine differ.
    std::string culprit(const std::vector<Stream>& streams, std::size_t stream,
                        const std::vector<std::string>& options) {
        for (std::size_t length = 1; length <= streams[stream].boundaries.size(); ++length) {
            const Command command = driver({std::to_string(stream), "1", std::to_string(length)});
            const Outcome native = run(command), engine = run(under_engine(command, options));
            if (native.out != engine.out)
                return "they part behind instruction " + std::to_string(length - 1) + " of\n" +
                       listing(streams[stream]) + "native\n" + native.out + "engine\n" + engine.out + engine.err;
        }
        return "but not while it is cut short:\n" + listing(streams[stream]);
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
            if (alone.out != run(one).out) FAIL() << "stream " << i << ": " << culprit(streams, i, options);
        }
        FAIL() << "the streams differ together, each alone does not; status " << engine.status << "\n" << engine.err;
    }

    nlohmann::json total(const Command& command) {
        run(command);
        std::ifstream file(scratch_.path() / "counts");
        return nlohmann::json::parse(file, nullptr, false).value("total", nlohmann::json{});
    }

    Scratch scratch_;
};

TEST_P(Streams, EndUnderTheEngineAsTheyEndNatively) {
    compare({});
}

TEST_P(Streams, EndTheSameWhileTheyAreCounted) {
    compare({"--count", "--count-to", "/dev/null"});
}

TEST_P(Streams, CountWhatSingleSteppingCounts) {
    write(streams_of(GetParam() + 500, 8));
    const std::string file = (scratch_.path() / "counts").string();
    const auto engine = total(under_engine(driver(), {"--count", "--count-to", file}));
    Command stepping = driver();
    stepping.words.insert(stepping.words.begin(), {ANYPERF_BINARY_DIR "/tests/step_count", "--count-to", file, "--"});
    EXPECT_EQ(engine, total(stepping));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Streams, testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace anyperf::engine_test
