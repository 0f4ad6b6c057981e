#include "cli/report/hierarchy.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "cli/report/key_widths.h"

namespace anyperf::cli {

namespace {

using profile::Key;
using profile::Profile;
using profile::Row;

constexpr std::size_t kBlock = 64 << 10;  // that are printed together
constexpr std::size_t kIndent = 3;        // of each level

/// A row of one level. Its sums are those of the leaves below it.
struct Node {
    std::vector<Row> sums;  ///< of each event; only the numbers and what the keys' texts are made of
    std::vector<const Row*> cells;
    const GroupRow* leaf = nullptr;  ///< of the last level: the row of the flat table
    std::vector<Node*> below{};

    GroupRow row() const { return {cells}; }
};

/// Sums up leaves to a tree.
class Tree {
  public:
    Tree(const std::vector<profile::Rows>& events, const TableOptions& options) : events_(events), options_(options) {}

    void add(const GroupRow& leaf) {
        std::vector<std::uint64_t> values{kRoot};
        Node* above = &node_at(values, nullptr, leaf);
        const auto all = values_of(leaf);
        std::size_t key = 0;
        for (const std::size_t keys : options_.levels) {
            for (std::size_t i = 0; i < keys; ++i) values.push_back(all[key++]);
            above = &node_at(values, above, leaf);
        }
        above->leaf = &leaf;
    }

    /// The nodes of the first level, the heaviest first at each level.
    const std::vector<Node*>& finish() {
        const auto before = [&](const Node* a, const Node* b) { return is_heavier(a->row(), b->row(), options_); };
        for (const auto& [values, node] : nodes_) std::ranges::stable_sort(node->below, before);
        return nodes_.at({kRoot})->below;
    }

  private:
    static constexpr std::uint64_t kRoot = 0;  // the first value of all nodes

    std::span<const std::uint64_t> values_of(const GroupRow& leaf) const {
        std::size_t event = 0;
        while (!leaf.of[event]) ++event;
        return events_[event].values_of(*leaf.of[event]);
    }

    /// The node with these values, with the leaf's numbers added.
    Node& node_at(const std::vector<std::uint64_t>& values, Node* above, const GroupRow& leaf) {
        std::unique_ptr<Node>& node = nodes_[values];
        if (!node) {
            const Row& example = leaf.example();
            const Row empty{.context = example.context,
                            .place = example.place,
                            .frame = example.frame,
                            .line_frame = example.line_frame,
                            .parent = example.parent};
            node = std::make_unique<Node>(Node{.sums = std::vector(events_.size(), empty), .cells = {}});
            for (const Row& each : node->sums) node->cells.push_back(&each);
            if (above) above->below.push_back(node.get());
        }
        for (std::size_t i = 0; i < events_.size(); ++i) {
            if (!leaf.of[i]) continue;
            node->sums[i].samples += leaf.of[i]->samples;
            node->sums[i].self += leaf.of[i]->self;
            node->sums[i].kernel_self += leaf.of[i]->kernel_self;
        }
        return *node;
    }

    const std::vector<profile::Rows>& events_;
    const TableOptions& options_;
    std::map<std::vector<std::uint64_t>, std::unique_ptr<Node>> nodes_;  // by the values of their keys
};

/// Prints in blocks, as print_events() does.
class HierarchyPrinter {
  public:
    HierarchyPrinter(const Profile& profile, const std::vector<profile::Rows>& events,
                     const std::vector<GroupRow>& leaves, const TableOptions& options, Output& out)
        : profile_(profile), events_(events), options_(options), numbers_(events, options), out_(out) {
        // Only a level of several keys has columns.
        if (std::ranges::any_of(options.levels, [](std::size_t keys) { return keys > 1; }))
            widths_.emplace(profile, leaves, options.rows.keys);
    }

    ~HierarchyPrinter() { out_.print(text_); }

    /// The nodes that are heavy enough, each with those below it. Returns whether there is one.
    bool print(const std::vector<Node*>& nodes, std::size_t level, std::size_t first_key) {
        bool any = false;
        for (const Node* node : nodes) {
            if (!is_shown(*node)) continue;
            any = true;
            append_row(*node, level, first_key);
            if (node->leaf)
                append_stacks(*node->leaf);
            else if (!print(node->below, level + 1, first_key + options_.levels[level]))
                append_nothing(level);
            flush();
        }
        return any;
    }

  private:
    bool aligned() const { return options_.separator.empty(); }

    bool is_shown(const Node& node) const {
        if (options_.only_with_parent && node.sums[0].parent == profile::kNone<profile::FunctionId>) return false;
        return largest_share(node.row(), events_, options_) >= options_.percent_limit;
    }

    /// The numbers move to the right with the level, and so do the keys.
    void append_row(const Node& node, std::size_t level, std::size_t first_key) {
        text_.append(level * kIndent, ' ');
        bool first = true;
        for (const Column& column : options_.columns) {
            if (column.kind == Column::Kind::key) continue;
            if (aligned() || !first) text_ += between();
            first = false;
            numbers_.append(column.kind, node.row(), text_);
        }
        if (aligned()) text_.append((options_.levels.size() - 1) * kIndent, ' ');
        for (std::size_t i = 0; i < options_.levels[level]; ++i) {
            text_ += between();
            const std::size_t begin = text_.size(), key = first_key + i;
            append_key_text(profile_, options_.rows.keys[key], node.sums[0], text_);
            const std::size_t size = text_.size() - begin;
            const bool last = i + 1 == options_.levels[level];
            if (aligned() && !last && size < widths_->of(key)) text_.append(widths_->of(key) - size, ' ');
        }
        text_ += '\n';
    }

    /// Below a row whose own share is large enough, and none of whose parts is.
    void append_nothing(std::size_t level) {
        std::size_t width = 2;
        for (const Column& column : options_.columns)
            if (column.kind != Column::Kind::key) width += numbers_.width_of(column.kind) + 2;
        if (aligned()) width += (options_.levels.size() + level) * kIndent;
        fmt::format_to(std::back_inserter(text_), "{:{}}no entry >= {:.2f}%\n", "", width, options_.percent_limit);
    }

    /// Of a group the stacks are those of its leader, as in the flat table.
    void append_stacks(const GroupRow& leaf) {
        if (!leaf.of[0] || options_.stacks.style == StackOptions::Style::none) return;
        text_ += stacks_as_text(profile_, *leaf.of[0], events_[0].weight, skips_own_name(options_), options_.stacks);
    }

    std::string_view between() const { return aligned() ? std::string_view{"  "} : options_.separator; }

    void flush() {
        if (text_.size() < kBlock) return;
        out_.print(text_);
        text_.clear();
    }

    const Profile& profile_;
    const std::vector<profile::Rows>& events_;
    const TableOptions& options_;
    NumberColumns numbers_;
    std::optional<KeyWidths> widths_;
    Output& out_;
    std::string text_;
};

}  // namespace

void append_hierarchy_titles(const Profile& profile, const std::vector<profile::Rows>& events,
                             const TableOptions& options, std::string& text) {
    const NumberColumns numbers{events, options};
    const bool aligned = options.separator.empty();
    text += aligned ? "#\n# " : "# ";
    if (aligned) text.append((options.levels.size() - 1) * kIndent, ' ');
    for (const Column& column : options.columns) {
        if (column.kind == Column::Kind::key) continue;
        numbers.append_title(column.kind, text);
        text += aligned ? "  " : options.separator;
    }
    std::size_t key = 0;
    for (std::size_t level = 0; level < options.levels.size(); ++level) {
        if (level > 0) text += " / ";
        for (std::size_t i = 0; i < options.levels[level]; ++i) {
            if (i > 0) text += '+';
            text += title_of(profile, options.rows.keys[key++]);
        }
    }
    text += aligned ? "\n#\n" : "\n";
}

void print_hierarchy(const Profile& profile, const std::vector<profile::Rows>& events,
                     const std::vector<GroupRow>& leaves, const TableOptions& options, Output& out) {
    if (leaves.empty()) return;
    Tree tree{events, options};
    for (const GroupRow& leaf : leaves) tree.add(leaf);
    HierarchyPrinter{profile, events, leaves, options, out}.print(tree.finish(), 0, 0);
}

}  // namespace anyperf::cli
