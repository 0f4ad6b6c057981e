#include "recording/tracing_data.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "abi/event_ids.h"

namespace anyperf::recording {
namespace {

/// A machine with two tracepoints of the numbers 7 and 8.
class TracingMachine {
  public:
    TracingMachine() : directory_{::testing::TempDir() + "tracing." + std::to_string(::getpid())} {
        write("sched/sched_switch", "7", "format of the switch");
        write("sched/sched_wakeup", "8", "format of the wakeup");
    }
    TracingMachine(const TracingMachine&) = delete;
    TracingMachine& operator=(const TracingMachine&) = delete;
    ~TracingMachine() { std::filesystem::remove_all(directory_); }

    std::string data_of(const std::string& name, std::uint64_t id) const {
        SampledEvent sampled{};
        sampled.event.name = name;
        sampled.event.attr.type = abi::kTypeTracepoint;
        sampled.event.attr.config = id;
        const auto data = tracing_data(host::Root{directory_}, std::span{&sampled, 1});
        return data ? std::string{reinterpret_cast<const char*>(data->data()), data->size()} : data.error().cause;
    }

  private:
    void write(const std::string& event, const std::string& id, const std::string& format) const {
        const std::filesystem::path folder{directory_ + "/sys/kernel/tracing/events/" + event};
        std::filesystem::create_directories(folder);
        std::ofstream{folder / "id"} << id << '\n';
        std::ofstream{folder / "format"} << format << '\n';
    }

    std::string directory_;
};

TEST(TracingData, ATracepointIsFoundByItsName) {
    const TracingMachine machine;
    const auto data = machine.data_of("sched:sched_switch:u", 7);
    EXPECT_TRUE(data.contains("format of the switch\n"));
    EXPECT_FALSE(data.contains("format of the wakeup"));
}

TEST(TracingData, ATracepointOfAnotherNameIsFoundByItsNumber) {
    const TracingMachine machine;
    EXPECT_TRUE(machine.data_of("my_event", 8).contains("format of the wakeup\n"));
    EXPECT_TRUE(machine.data_of("my:event", 8).contains("format of the wakeup\n"));
}

}  // namespace
}  // namespace anyperf::recording
