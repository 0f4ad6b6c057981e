#include "engine/syscalls/objects.h"

#include <asm/unistd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "engine/shown_ids.h"
#include "engine/syscalls/file_kinds.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

using run::ObjectKind;

struct ObjectCall::Row {
    std::uint16_t number;
    ObjectKind kind;
    std::int8_t command;  ///< the argument that is a command of shmctl(2) and the like; -1: none
    bool makes;           ///< the answer is an id, and the first argument none
};

namespace {

using Row = ObjectCall::Row;
using enum ObjectKind;

constexpr std::array kRows{
    Row{__NR_shmget, segments, -1, true},        Row{__NR_shmat, segments, -1, false},
    Row{__NR_shmctl, segments, 1, false},        Row{__NR_semget, semaphores, -1, true},
    Row{__NR_semop, semaphores, -1, false},      Row{__NR_semctl, semaphores, 2, false},
    Row{__NR_msgget, queues, -1, true},          Row{__NR_msgsnd, queues, -1, false},
    Row{__NR_msgrcv, queues, -1, false},         Row{__NR_msgctl, queues, 1, false},
    Row{__NR_semtimedop, semaphores, -1, false},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::number));

/// By number: the index of its row, from 1 on; 0: it has none.
constexpr auto kIndexOf = [] {
    std::array<std::uint8_t, __NR_semtimedop + 1> table{};
    for (std::size_t i = 0; i < kRows.size(); ++i) table[kRows[i].number] = static_cast<std::uint8_t>(i + 1);
    return table;
}();

const Row* row_of(std::uint64_t number) {
    const std::size_t index = number < kIndexOf.size() ? kIndexOf[number] : 0;
    return index != 0 ? &kRows[index - 1] : nullptr;
}

/// Commands without an id, by ObjectKind. Numbers have other meanings for other kinds.
struct Commands {
    int by_index;  ///< the first argument is an index, and the answer the id there
    int by_index_of_any;
    int about_all;
};
constexpr std::array kCommands{
    Commands{SHM_STAT, SHM_STAT_ANY, SHM_INFO},
    Commands{SEM_STAT, SEM_STAT_ANY, SEM_INFO},
    Commands{MSG_STAT, MSG_STAT_ANY, MSG_INFO},
};

bool is_by_index(ObjectKind kind, int command) {
    const Commands& commands = kCommands[static_cast<std::size_t>(kind)];
    return command == commands.by_index || command == commands.by_index_of_any;
}

bool has_no_id(ObjectKind kind, int command) {
    return is_by_index(kind, command) || command == IPC_INFO ||
           command == kCommands[static_cast<std::size_t>(kind)].about_all;
}

std::int32_t real_object(const Engine& engine, ObjectKind kind, std::int32_t shown) {
    const auto& ids = shown_objects(engine).ids[static_cast<std::size_t>(kind)];
    const std::uint32_t number = static_cast<std::uint32_t>(shown) - run::kFirstShownObject + 1;
    if (shown < static_cast<std::int32_t>(run::kFirstShownObject) || number > run::ShownObjects::kObjects) return shown;
    const std::uint64_t real = ids.kernels(number);
    return real <= INT32_MAX ? static_cast<std::int32_t>(real) : shown;
}

/// What IPC_STAT has stored at `place`.
class Report {
  public:
    Report(const Call& call, std::uint64_t place) : call_(call), place_(place) {
        std::uint64_t ns = 0;
        virtual_time(call.thread, CLOCK_REALTIME, look_at_clock(call.thread), ns);
        now_ = static_cast<time_t>(ns / static_cast<std::uint64_t>(kNsOfSecond));
    }

    void show(ObjectKind kind) const {
        if (kind == segments)
            change<shmid_ds>([&](shmid_ds& about) {
                about.shm_perm.__seq = 0;
                show_times({&about.shm_atime, &about.shm_dtime, &about.shm_ctime});
                show_ids({&about.shm_cpid, &about.shm_lpid});
            });
        else if (kind == semaphores)
            change<semid_ds>([&](semid_ds& about) {
                about.sem_perm.__seq = 0;
                show_times({&about.sem_otime, &about.sem_ctime});
            });
        else
            change<msqid_ds>([&](msqid_ds& about) {
                about.msg_perm.__seq = 0;
                show_times({&about.msg_stime, &about.msg_rtime, &about.msg_ctime});
                show_ids({&about.msg_lspid, &about.msg_lrpid});
            });
    }

  private:
    template <class T, class Change>
    void change(Change change) const {
        T about{};
        if (!x86_64::guarded_read(place_, about)) return;
        change(about);
        x86_64::guarded_write(place_, about);
    }
    void show_times(std::initializer_list<time_t*> times) const {
        for (time_t* const time : times)
            if (*time != 0) *time = now_;
    }
    void show_ids(std::initializer_list<pid_t*> ids) const {
        for (pid_t* const id : ids) *id = turns::shown_of(call_.engine, *id);
    }

    const Call& call_;
    std::uint64_t place_;
    time_t now_ = 0;
};

/// Translates the cookies of the events in [at, end).
void show_cookies(const Engine& engine, std::uint64_t at, std::uint64_t end) {
    inotify_event event{};
    while (at + sizeof event <= end && x86_64::guarded_read(at, event)) {
        if (event.cookie != 0) {
            event.cookie = shown_objects(engine).shown_cookie(event.cookie);
            x86_64::guarded_write(at, event);
        }
        at += sizeof event + event.len;
    }
}

}  // namespace

run::ShownObjects& shown_objects(const Engine& engine) {
    return *at_address<run::ShownObjects>(address_of(engine.run_use) + run::kShownObjectsOffset);
}

std::int32_t shown_object(const Engine& engine, ObjectKind kind, std::int32_t real) {
    if (real < 0) return real;
    auto& ids = shown_objects(engine).ids[static_cast<std::size_t>(kind)];
    const std::uint32_t number = ids.number_of(static_cast<std::uint32_t>(real));
    return number != 0 ? static_cast<std::int32_t>(run::kFirstShownObject + number - 1) : real;
}

ObjectCall::ObjectCall(Call& call) : call_(call), row_(row_of(call.number)) {
    if (row_ == nullptr) return;
    given_ = call.argument[0];
    const bool names_none =
        row_->makes || (row_->command >= 0 && has_no_id(row_->kind, static_cast<int>(call.argument[row_->command])));
    if (!names_none)
        call.argument[0] = static_cast<std::uint32_t>(
            real_object(call.engine, row_->kind, static_cast<std::int32_t>(call.argument[0])));
}

long ObjectCall::finish(long answer) {
    if (row_ == nullptr) {
        if (call_.number == __NR_read && answer > 0 &&
            kind_of_descriptor(call_.thread, call_.argument[0]) == DescriptorKind::inotify) [[unlikely]]
            show_cookies(call_.engine, call_.argument[1], call_.argument[1] + static_cast<std::uint64_t>(answer));
        return answer;
    }
    call_.argument[0] = given_;
    if (is_error(answer) || answer == kRestartSyscall) return answer;
    const auto id = static_cast<std::int32_t>(answer);
    if (row_->makes) return shown_object(call_.engine, row_->kind, id);
    if (row_->command < 0) return answer;
    const auto command = static_cast<int>(call_.argument[row_->command]);
    if (row_->kind == semaphores && command == GETPID) return turns::shown_of(call_.engine, id);
    if (command == IPC_STAT || is_by_index(row_->kind, command))
        Report{call_, call_.argument[row_->command + 1]}.show(row_->kind);
    return is_by_index(row_->kind, command) ? shown_object(call_.engine, row_->kind, id) : answer;
}

}  // namespace anyperf::engine
