// blocks.cpp: the columns are those of perf (block-info.c in tools/perf/util); perf 6.1 of Debian 12 itself crashes
// there. A branch ends the block that the branch before it has begun, so a block needs two branches of one sample; the
// oldest branch ends a block whose beginning is not known.
#include "cli/report/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/processes.h"
#include "analysis/recorded_names.h"
#include "cli/report/block_sums.h"
#include "cli/script/admission.h"
#include "profile/strings.h"

namespace anyperf::cli {

namespace {

constexpr std::size_t kWords = 3;  // of a branch: from, to, flags

std::uint64_t cycles_of(std::uint64_t flags) {
    return flags >> 4 & 0xffff;
}

/// Where a branch is, or goes to.
struct CodePlace {
    symbols::Dso* dso = nullptr;
    const symbols::Symbol* symbol = nullptr;  ///< null: unknown
    std::uint64_t address = 0;                ///< as in the symbol table
};

/// What samples of one event say.
struct EventBlocks {
    using Function = std::pair<symbols::Dso*, const symbols::Symbol*>;
    std::map<Function, BlockSums> functions;
    std::uint64_t cycles = 0;  ///< of all branches, also those in unknown code
    std::uint64_t samples = 0, weight = 0;
};

/// Gathers the blocks of all samples.
class BlockCollector final : public perfdata::Consumer {
  public:
    BlockCollector(const perfdata::Reader& reader, const symbols::SymbolPaths& paths, const Filters& filters)
        : reader_(reader), dsos_(paths), processes_(strings_, dsos_), admission_(filters, processes_, strings_, dsos_) {
        processes_.use_build_ids(reader.facts().build_ids);
        analysis::use_recorded_names(reader.facts(), dsos_);
    }

    void record(const perfdata::Record& record) override { processes_.follow(record); }

    // The newest branch is the first.
    void sample(const perfdata::Sample& sample, std::size_t event) override {
        if (!admission_.admits(sample)) return;
        if (events_.size() <= event) events_.resize(event + 1);
        EventBlocks& sums = events_[event];
        ++sums.samples;
        sums.weight += sample.period;
        const analysis::SpaceId space = processes_.space(sample.pid);
        CodePlace before;
        for (std::size_t i = sample.branches.size() / kWords; i > 0; --i) {
            const std::size_t at = (i - 1) * kWords;
            const std::uint64_t cycles = cycles_of(sample.branches[at + 2]);
            sums.cycles += cycles;
            const CodePlace from = code_at(sample.branches[at], space);
            if (from.symbol && cycles != 0) add(before, from, cycles, sums);
            before = code_at(sample.branches[at + 1], space);
        }
    }

    symbols::Dsos& dsos() { return dsos_; }
    const std::vector<EventBlocks>& events() const { return events_; }
    const std::string& name_of(std::size_t event) const { return reader_.events()[event].name; }

  private:
    static void add(const CodePlace& before, const CodePlace& from, std::uint64_t cycles, EventBlocks& sums) {
        const bool known = before.symbol == from.symbol && before.dso == from.dso && before.address < from.address;
        sums.functions[{from.dso, from.symbol}].add(known ? std::optional{before.address} : std::nullopt, from.address,
                                                    cycles);
    }

    CodePlace code_at(std::uint64_t address, analysis::SpaceId space) {
        const symbols::Map* map = processes_[space].find(address);
        if (!map) map = processes_.kernel().find(address);
        if (!map) return {};
        symbols::Dso& dso = dsos_.loaded(*map->dso);
        const std::uint64_t known = dso.symbol_address(address, address - map->start + map->file_offset);
        return {&dso, dso.find(known), known};
    }

    const perfdata::Reader& reader_;
    profile::Strings strings_;
    symbols::Dsos dsos_;
    analysis::Processes processes_;
    Admission admission_;
    std::vector<EventBlocks> events_;
};

struct BlockRow {
    symbols::Dso* dso;
    const symbols::Symbol* symbol;
    std::uint64_t end;
    Block block;

    std::uint64_t mean() const { return block.cycles / block.count; }
};

/// "13.3M", "1.2K", "999", as perf's cycles_string().
std::string cycles_text(std::uint64_t cycles) {
    const auto number = static_cast<double>(cycles);
    if (cycles >= 1'000'000) return fmt::format("{:.1f}M", number / 1e6);
    return cycles >= 1000 ? fmt::format("{:.1f}K", number / 1e3) : std::to_string(cycles);
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
    return fmt::format("{:.2f}%", whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

struct Title {
    std::string_view name;
    std::size_t width;
};
constexpr std::array kTitles{Title{"Sampled Cycles%", 15},       Title{"Sampled Cycles", 14},
                             Title{"Avg Cycles%", 11},           Title{"Avg Cycles", 10},
                             Title{"[Program Block Range]", 70}, Title{"Shared Object", 20}};

/// Prints the table of one event.
class BlockTable {
  public:
    BlockTable(symbols::Dsos& dsos, const EventBlocks& event, const BlockOptions& options)
        : dsos_(dsos), event_(event), options_(options) {
        for (const auto& [function, sums] : event.functions)
            for (const auto& [end, block] : sums.blocks()) {
                rows_.push_back({function.first, function.second, end, block});
                means_ += rows_.back().mean();
            }
        std::ranges::stable_sort(rows_, std::greater{}, [](const BlockRow& row) { return row.block.cycles; });
    }

    std::string text(std::string_view event) {
        if (options_.titles) add_titles(event);
        for (const BlockRow& row : rows_) {
            const double share = 100.0 * static_cast<double>(row.block.cycles) / static_cast<double>(event_.cycles);
            if (share < options_.percent_limit) break;
            add_line("  ", {share_text(row.block.cycles, event_.cycles), cycles_text(row.block.cycles),
                            share_text(row.mean(), means_), cycles_text(row.mean()), range_of(row),
                            std::string{row.dso->name()}});
        }
        return std::move(text_);
    }

  private:
    using Cells = std::array<std::string, kTitles.size()>;

    void add_titles(std::string_view event) {
        fmt::format_to(std::back_inserter(text_), "# Samples: {} of event '{}'\n# Event count: {}\n{}", event_.samples,
                       event, event_.weight, options_.separator.empty() ? "#\n" : "");
        Cells names;
        for (std::size_t i = 0; i < names.size(); ++i) names[i] = kTitles[i].name;
        add_line("# ", names);
        if (options_.separator.empty()) text_ += "#\n";
    }

    // All but the last column are aligned at their right ends.
    void add_line(std::string_view begin, const Cells& cells) {
        const bool aligned = options_.separator.empty();
        if (aligned || begin.front() == '#') text_ += begin;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (i != 0) text_ += aligned ? "  " : options_.separator;
            if (aligned && i + 1 < cells.size() && cells[i].size() < kTitles[i].width)
                text_.append(kTitles[i].width - cells[i].size(), ' ');
            text_ += cells[i];
        }
        text_ += '\n';
    }

    /// By source lines; without them by offsets in the function.
    std::string range_of(const BlockRow& row) {
        const std::uint64_t start = row.block.start.value_or(row.symbol->start);
        const std::string from = line_of(row, start), to = line_of(row, row.end);
        if (!from.empty() && !to.empty()) return fmt::format("[{} -> {}]", from, to);
        return fmt::format("[{:7x} -> {:7x}]", start - row.symbol->start, row.end - row.symbol->start);
    }

    std::string line_of(const BlockRow& row, std::uint64_t address) {
        symbols::DebugInfo* const debug = dsos_.debug_info(*row.dso);
        if (!debug) return {};
        const auto frames = debug->frames(address);
        const symbols::SourceLine at = frames.empty() ? debug->line(address) : frames.front().at;
        if (at.line == 0) return {};
        const std::size_t begin = options_.whole_source_paths ? 0 : at.file.rfind('/') + 1;
        return fmt::format("{}:{}", std::string_view{at.file}.substr(begin), at.line);
    }

    symbols::Dsos& dsos_;
    const EventBlocks& event_;
    const BlockOptions& options_;
    std::vector<BlockRow> rows_;
    std::uint64_t means_ = 0;  ///< the sum of the blocks' mean cycles
    std::string text_;
};

}  // namespace

Result<void> print_blocks(perfdata::Reader& reader, const symbols::SymbolPaths& paths, const BlockOptions& options,
                          Output& out) {
    BlockCollector collector{reader, paths, options.filters};
    const perfdata::Summary summary = reader.read(collector);
    bool any = false;
    for (std::size_t i = 0; i < collector.events().size(); ++i) {
        const EventBlocks& event = collector.events()[i];
        if (event.cycles == 0) continue;
        out.print((any ? "\n\n" : "") + BlockTable{collector.dsos(), event, options}.text(collector.name_of(i)));
        any = true;
    }
    if (summary.damage) out.note(fmt::format("anyperf: {}: {}\n", summary.damage->what, summary.damage->cause));
    if (any) return {};
    return std::unexpected(Error{"cannot show the cycles of blocks", "no sample has branches with their cycles",
                                 "record with -b on a CPU that counts them, or with --virtual"});
}

}  // namespace anyperf::cli
