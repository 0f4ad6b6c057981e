#include "engine/exact/exact.h"

#include <sys/mman.h>

#include "engine/exact/area.h"
#include "engine/fail.h"
#include "engine/freestanding/pages.h"
#include "engine/hooks.h"

namespace anyperf::engine {

using run::exact::AreaHeader;
using run::exact::ImageHeader;
using run::exact::IndirectCall;
using run::exact::Record;
using run::exact::RecordKind;
using run::exact::UnitKind;

namespace {

std::uint64_t offset_of_unit(std::uint32_t unit) {
    return run::exact::kOffset + unit * run::exact::kUnitBytes;
}

/// Reserves `count` units and returns the first.
std::uint32_t take_units(const Engine& engine, std::uint32_t count) {
    const std::uint32_t unit = __atomic_fetch_add(&engine.run_use->exact_units, count, __ATOMIC_RELAXED);
    if (unit > run::exact::kUnits - count) fail("the run's memory for exact counts is used up", 0);
    return unit;
}

/// Maps `unit` at `address`, or anywhere if that is 0. If it can't, it ends the process, which must not go on without
/// counting.
std::uint64_t map_units(const Engine& engine, std::uint32_t unit, std::uint64_t address, std::uint64_t bytes) {
    constexpr int kAccess = PROT_READ | PROT_WRITE;
    constexpr int kShared = MAP_SHARED | MAP_NORESERVE;
    const long got = address != 0
                         ? map_pages(address, bytes, kAccess, kShared | MAP_FIXED, engine.run_fd, offset_of_unit(unit))
                         : map_own_pages(bytes, kAccess, kShared, engine.run_fd, offset_of_unit(unit));
    if (is_error(got)) fail("no address space for exact counts", 0);
    leave_out_of_dumps(static_cast<std::uint64_t>(got), bytes);
    return static_cast<std::uint64_t>(got);
}

/// Makes the unit visible to the recorder.
void publish(UnitKind& kind, UnitKind value) {
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(&kind), static_cast<std::uint32_t>(value), __ATOMIC_RELEASE);
}

/// Gives the process a new image, mapped at `address`, or anywhere if that is 0. `parent`: 1 + the unit of the image
/// whose cells it inherits, or 0.
void begin_image(Engine& engine, std::uint64_t address, std::uint32_t parent) {
    const std::uint32_t unit = take_units(engine, run::exact::kImageUnits);
    auto* const image = at_address<ImageHeader>(map_units(engine, unit, address, run::exact::kImageBytes));
    image->pid = static_cast<std::int32_t>(kernel_call(__NR_getpid));
    image->start_ns = hooks::record_time(engine);
    image->parent = parent;
    engine.exact.begin(image, unit, hooks::record_time, engine);
    publish(image->kind, UnitKind::image);
}

/// Maps the area of a thread of this process that has ended; false if there is none.
bool take_free_area(Thread& thread) {
    ExactCounts& exact = thread.engine->exact;
    const LockGuard held{exact.lock};
    if (exact.free_area == 0) return false;
    map_units(*thread.engine, exact.free_area - 1, address_of(&area_of(thread)), run::exact::kUnitBytes);
    exact.free_area = area_of(thread).next_free;
    return true;
}

/// Whether the image is that of the calling process. The child of a vfork runs in its parent's image, but has another
/// pid and its own areas.
bool has_own_image(const Engine& engine) {
    return engine.exact.image()->pid == kernel_call(__NR_getpid);
}

}  // namespace

void begin_exact_image(Engine& engine) {
    if (engine.run != nullptr && engine.run->exact != 0) begin_image(engine, 0, 0);
}

// The child has its parent's image mapped, to which the parent still writes. The child's own image replaces the
// mapping.
void inherit_exact_image(Engine& engine) {
    if (!engine.exact.on()) return;
    engine.exact.lock.reset();
    begin_image(engine, address_of(engine.exact.image()), engine.exact.unit + 1);
}

void begin_exact_thread(Thread& thread) {
    Engine& engine = *thread.engine;
    if (!engine.exact.on() || (has_own_image(engine) && take_free_area(thread))) return;
    const std::uint32_t unit = take_units(engine, 1);
    map_units(engine, unit, address_of(&area_of(thread)), run::exact::kUnitBytes);
    AreaHeader& area = area_of(thread);
    area.pid = static_cast<std::int32_t>(kernel_call(__NR_getpid));
    area.unit = unit;
    area.image = engine.exact.unit;
    area.start_ns = hooks::record_time(engine);
    area.position = -run::exact::kCallsBytes;
    publish(area.kind, UnitKind::area);
}

void end_exact_thread(Thread& thread) {
    Engine& engine = *thread.engine;
    if (!engine.exact.on() || !has_own_image(engine)) return;
    const LockGuard held{engine.exact.lock};
    area_of(thread).next_free = engine.exact.free_area;
    engine.exact.free_area = area_of(thread).unit + 1;
}

namespace {

std::uint32_t cell_of_call(Thread& thread, const IndirectCall& call) {
    const auto site = static_cast<std::uint32_t>(call.site);
    KnownCall& known = known_call(thread, site, call.target);
    if (known.site == site && known.target == call.target) return known.cell;
    Record record{};
    record.kind = RecordKind::call;
    record.of = site;
    record.target = call.target;
    known = {call.target, site, thread.engine->exact.cell_for(record)};
    return known.cell;
}

}  // namespace

// From the newest call to the oldest. Each is removed from the list before it is counted: if the thread is killed, the
// recorder counts the calls that are left in the list.
void count_indirect_calls(Thread& thread) {
    AreaHeader& area = area_of(thread);
    if (area.position < 0) return;
    auto* const end = reinterpret_cast<IndirectCall*>(reinterpret_cast<char*>(&area) + run::exact::kCellsOffset);
    auto* const first = end - run::exact::kCallsBytes / sizeof(IndirectCall);
    for (IndirectCall* call = end; call-- != first;) {
        __atomic_store_n(&area.position, reinterpret_cast<char*>(call) - reinterpret_cast<char*>(end),
                         __ATOMIC_RELAXED);
        add_to_cell(thread, cell_of_call(thread, *call));
    }
}

}  // namespace anyperf::engine
