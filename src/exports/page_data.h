// page_data.h: what the page of html.cpp shows, as profile.js unpacks it: a JSON head, and columns of numbers, each a
// varint. It has functions by name and not addresses, and times as slots, so its size follows what can be seen and not
// the number of samples.
//
// The bytes: a varint with the length of the head, and the head (title, facts, names of dsos, functions and threads).
// Then the number of nodes of the call tree, the callers of all nodes (how many nodes before; 0: none), and the
// functions of all nodes. Then the number of rows, and five columns of them: node, thread (the difference from the row
// before), slot, samples, weight. Column by column, because numbers of one kind next to each other deflate better than
// rows would.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "exports/frame_names.h"
#include "profile/profile.h"

namespace anyperf::exports {

class PageData {
  public:
    enum Side : std::uint32_t { kNew, kBaseline };
    static constexpr std::uint64_t kSlots = 1000;  ///< of the time of a recording

    /// Adds the samples of one event. Both sides share the tree of functions, so that the page can subtract them.
    void add(const profile::Profile& profile, profile::EventId event, Side side);

    /// A line of the facts about the recording.
    void add_fact(std::string_view name, std::string_view value) { facts_.emplace_back(name, value); }

    /// The whole data, not compressed.
    std::string bytes(std::string_view title, const profile::Event& event) const;

  private:
    struct Node {
        std::uint32_t caller;  // number + 1, or 0
        std::uint32_t function;
    };
    struct Thread {
        std::string comm;
        std::uint32_t tid;
        std::string event;
        Side side;
    };
    struct Weight {
        std::uint64_t count = 0;
        std::uint64_t weight = 0;
    };

    std::uint32_t function(std::string_view name, std::string_view dso);
    std::uint32_t node(std::uint32_t caller, std::uint32_t function);
    std::uint32_t node_of(const profile::Profile& profile, const FrameNames& names, profile::StackId stack,
                          std::string_view comm);
    std::uint32_t thread_of(const profile::Profile& profile, const profile::Context& context, Side side);
    std::string head(std::string_view title, const profile::Event& event) const;

    std::vector<std::pair<std::string, std::string>> facts_;
    std::unordered_map<std::string, std::uint32_t> dso_numbers_, function_numbers_;
    std::vector<std::string> dsos_;
    std::vector<std::pair<std::string, std::uint32_t>> functions_;  // with their dsos
    std::vector<Node> nodes_;
    std::unordered_map<std::uint64_t, std::uint32_t> node_numbers_;               // by caller and function
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> stack_nodes_;  // of the profile that is added
    std::vector<Thread> threads_;
    std::map<std::tuple<Side, std::uint32_t, std::uint32_t>, std::uint32_t> thread_numbers_;  // by side, pid, tid
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Weight> rows_;          // by thread, slot, node
};

}  // namespace anyperf::exports
