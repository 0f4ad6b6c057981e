// pmu.cpp: the PMUs in sysfs (Documentation/ABI/testing/sysfs-bus-event_source-devices*). A server has hundreds of
// uncore PMUs with thousands of files, so only `type`, `alias` and the CPUs are read at first; format/, events/ and
// caps/ of a PMU are read when they are first asked for.
#include "host/hardware/pmu.h"

#include <algorithm>
#include <charconv>
#include <mutex>

#include "host/hardware/cpus.h"
#include "host/hardware/pmu_details.h"

namespace anyperf::host {

namespace {

constexpr std::string_view kBus = "/sys/bus/event_source/devices/";
constexpr std::string_view kDevices = "/sys/devices/";

/// ARM's Statistical Profiling Extension can follow tasks although it has a cpumask, which lists the cores that have it
/// (drivers/perf/arm_spe_pmu.c).
constexpr std::string_view kCorePmuWithCpumask = "arm_spe_";

bool same_without_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) {
        const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
        return lower(x) == lower(y);
    });
}

/// a < b, byte by byte. The names of one PMU differ in their first letters, so a loop is faster than a call of
/// memcmp(3).
bool before(std::string_view a, std::string_view b) {
    const std::size_t size = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < size; ++i)
        if (a[i] != b[i]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
    return a.size() < b.size();
}

/// The row called `name`, or else one whose name differs in case only. `rows` are sorted by name.
template <class Row>
const Row* find_row(const std::vector<Row>& rows, std::string_view name) {
    const auto exact = std::ranges::lower_bound(rows, name, before, &Row::name);
    if (exact != rows.end() && exact->name == name) return &*exact;
    const auto near = std::ranges::find_if(rows, [&](const Row& row) { return same_without_case(row.name, name); });
    return near == rows.end() ? nullptr : &*near;
}

/// The number in the file `type`. A directory without one is not a PMU.
std::optional<std::uint32_t> pmu_type(const Root& root, const std::string& directory) {
    const auto text = root.read(directory + "/type");
    std::uint32_t type = 0;
    if (!text) return std::nullopt;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), type);
    if (error != std::errc{} || end == text->data()) return std::nullopt;
    return type;
}

std::vector<int> cpus_in(const Root& root, const std::string& file) {
    const auto text = root.read(file);
    if (!text) return {};
    return parse_cpu_list(*text).value_or(std::vector<int>{});
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Removes the number at the beginning of `text` and returns its digits without leading zeros.
std::string_view take_number(std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end])) ++end;
    std::string_view number = text.substr(0, end);
    text.remove_prefix(end);
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
}

/// a < b with numbers compared by their value. "uncore_imc_2" comes before "uncore_imc_10", as a person expects.
bool natural_less(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        if (is_digit(a.front()) && is_digit(b.front())) {
            const auto x = take_number(a);
            const auto y = take_number(b);
            if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
            continue;
        }
        if (a.front() != b.front()) return a.front() < b.front();
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    return a.size() < b.size();
}

void add_pmus(const Root& root, std::string_view where, std::vector<Pmu>& pmus) {
    for (std::string& name : root.list(where)) {
        std::string directory = std::string{where} + name;
        if (const auto type = pmu_type(root, directory))
            pmus.emplace_back(root, std::move(directory), std::move(name), *type);
    }
}

}  // namespace

/// What is needed to read the details when they are asked for. On the heap, because a once_flag can't be moved.
struct Pmu::Lazy {
    Lazy(const Root& where, std::string path) : root(where), directory(std::move(path)) {}

    Root root;
    std::string directory;
    std::once_flag once;
    PmuDetails details;
};

// Both files list the CPUs on which to open the PMU's events. A PMU that counts for whole packages has a `cpumask`, a
// core PMU of a hybrid machine has `cpus`.
Pmu::Pmu(const Root& root, std::string directory, std::string name, std::uint32_t type)
    : name_(std::move(name)), alias_(root.read(directory + "/alias").value_or("")), type_(type) {
    const bool some_cpus = root.exists(directory + "/cpumask");
    uncore_ = some_cpus && !name_.starts_with(kCorePmuWithCpumask);
    const bool cores = root.exists(directory + "/cpus");
    core_ = cores || name_ == "cpu";
    if (cores || some_cpus) cpus_ = cpus_in(root, directory + (cores ? "/cpus" : "/cpumask"));
    lazy_ = std::make_unique<Lazy>(root, std::move(directory));
}

Pmu::~Pmu() = default;
Pmu::Pmu(Pmu&&) noexcept = default;
Pmu& Pmu::operator=(Pmu&&) noexcept = default;

const PmuDetails& Pmu::details() const {
    std::call_once(lazy_->once, [this] { lazy_->details = read_details(lazy_->root, lazy_->directory); });
    return lazy_->details;
}

const Format* Pmu::format(std::string_view name) const {
    return find_row(details().formats, name);
}

const Alias* Pmu::event(std::string_view name) const {
    return find_row(details().aliases, name);
}

std::string Pmu::identifier() const {
    return lazy_->root.read(lazy_->directory + "/identifier").value_or("");
}

std::optional<std::string> Pmu::capability(std::string_view name) const {
    const PmuCapability* cap = find_row(details().caps, name);
    return cap ? std::optional{cap->value} : std::nullopt;
}

// The bus has a link for each PMU into /sys/devices. A copy without links lacks the bus, so /sys/devices is read there.
std::vector<Pmu> read_pmus(const Root& root) {
    std::vector<Pmu> pmus;
    add_pmus(root, kBus, pmus);
    if (pmus.empty()) add_pmus(root, kDevices, pmus);
    std::ranges::sort(pmus, natural_less, &Pmu::name);
    return pmus;
}

}  // namespace anyperf::host
