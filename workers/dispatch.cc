#include "workers/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "tensor/error.h"
#include "text/packed.h"
#include "workers/elapsed.h"

namespace opbench {
namespace {

using Clock = std::chrono::steady_clock;

// A rank gets units for about kBatchSeconds at the measured pace, which amortises a message. It
// gets the next ones when its remaining units take less than kReserveSeconds.
constexpr double kBatchSeconds = 0.02, kReserveSeconds = 0.01, kLeastSeconds = 1e-9;
constexpr std::size_t kMostInBatch = 256;
constexpr std::chrono::milliseconds kProgressPause(100);

struct Done {
  std::size_t number = 0;
  UnitOutcome outcome;
  std::string result;
};

/// The thread in which rank 0 works in parallel to dispatching.
class OwnWorker {
 public:
  explicit OwnWorker(const UnitWork& work)
      : work_(work), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  void give(UnitQueue::Unit unit) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(unit));
    changed_.notify_all();
  }

  // Returns the next result; waits at most `patience`.
  std::optional<Done> take(std::chrono::microseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return !done_.empty(); });
    if (done_.empty()) return std::nullopt;
    Done done = std::move(done_.front());
    done_.pop_front();
    return done;
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !waiting_.empty(); })) {
      if (stop.stop_requested()) return;
      const UnitQueue::Unit unit = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      Done done{unit.number, {}, {}};
      done.result = do_unit(work_, unit.text, done.outcome);
      lock.lock();
      done_.push_back(std::move(done));
      changed_.notify_all();
    }
  }

  const UnitWork& work_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<UnitQueue::Unit> waiting_;
  std::deque<Done> done_;
  std::jthread thread_;
};

/// Units by rank, and their results.
class Dispatcher {
 public:
  Dispatcher(Ranks& ranks, std::string_view plan, UnitQueue& units, const UnitWork& work,
             const DispatchHooks& hooks)
      : ranks_(ranks),
        plan_(plan),
        units_(units),
        work_(work),
        hooks_(hooks),
        workers_(static_cast<std::size_t>(ranks.size())) {
    state_.workers = ranks.size();
  }

  DispatchState run() {
    if (ranks_.is_alone()) {
      work_alone();
    } else {
      own_.emplace(work_);
      workers_[0].is_ready = true;
      work_together();
    }
    report(true);
    ranks_.note_work(state_.busy_seconds, state_.wall_seconds);
    return state_;
  }

 private:
  struct Worker {
    bool is_ready = false, has_left = false;
    std::map<std::size_t, double> given;  ///< unanswered units, and their cost
    double seconds = 0;                   ///< cost of `given`
  };

  bool is_stopped() const { return hooks_.stop && hooks_.stop(); }

  // Measured seconds of units for each expected second; empty before the first unit has ended.
  std::optional<double> pace() const {
    if (state_.done == 0) return std::nullopt;
    return std::max(state_.busy_seconds, kLeastSeconds) / expected_;
  }

  void work_alone() {
    while (!units_.is_empty() && !is_stopped()) {
      const UnitQueue::Unit unit = units_.take();
      Done done{unit.number, {}, {}};
      // Exceptions of it are passed to the caller unchanged.
      const auto begin = Clock::now();
      done.result = work_(unit.text);
      done.outcome.seconds = seconds_since(begin);
      take(std::move(done));
      report(false);
    }
  }

  void work_together() {
    Nap nap;
    while (true) {
      const bool is_over = is_stopped() || units_.is_empty();
      if (is_over && open_ == 0 && (is_stopped() || are_all_ready())) break;
      if (!is_over) hand_out();
      bool is_anything = false;
      while (const auto letter = ranks_.receive()) {
        read(*letter);
        is_anything = true;
      }
      if (is_anything) nap.reset();
      if (wait(std::chrono::microseconds(is_anything ? 0 : nap.microseconds()))) nap.reset();
      if (!is_anything) ranks_.require_all();
      report(false);
    }
    for (int rank = 1; rank < ranks_.size(); ++rank) ranks_.send(rank, LetterKind::pause, "");
  }

  bool are_all_ready() const {
    return std::all_of(workers_.begin() + 1, workers_.end(),
                       [](const Worker& worker) { return worker.is_ready; });
  }

  // Waits for the own thread, and takes its results.
  bool wait(std::chrono::microseconds patience) {
    auto done = own_->take(patience);
    const bool is_any = done.has_value();
    for (; done; done = own_->take(std::chrono::microseconds(0))) {
      answered(workers_[0], done->number);
      if (!done->outcome.error.empty()) throw RunError(done->outcome.error);
      take(std::move(*done));
    }
    return is_any;
  }

  void hand_out() {
    const auto so_far = pace();
    for (std::size_t rank = 0; rank < workers_.size() && !units_.is_empty(); ++rank) {
      Worker& worker = workers_[rank];
      const bool needs_more =
          worker.given.empty() || (so_far && worker.seconds * *so_far < kReserveSeconds);
      if (worker.is_ready && needs_more) give(rank, worker, so_far);
    }
  }

  // Batches become small towards the end of the work, so that all ranks end at about one time.
  void give(std::size_t rank, Worker& worker, std::optional<double> so_far) {
    const double share = units_.seconds() / (2.0 * state_.workers);
    const double most = so_far ? std::min(kBatchSeconds / *so_far, share) : 0;
    Packer packer;
    std::size_t count = 0;
    for (double seconds = 0; !units_.is_empty() && count < kMostInBatch; ++count) {
      if (count > 0 && seconds >= most) break;
      UnitQueue::Unit unit = units_.take();
      seconds += unit.seconds;
      worker.given.emplace(unit.number, unit.seconds);
      worker.seconds += unit.seconds;
      ++open_;
      if (rank == 0) {
        own_->give(std::move(unit));
      } else {
        packer.add(static_cast<std::uint64_t>(unit.number));
        packer.add(unit.text);
      }
    }
    if (rank != 0) ranks_.send(static_cast<int>(rank), LetterKind::units, packer.take());
  }

  void answered(Worker& worker, std::size_t number) {
    const auto unit = worker.given.find(number);
    if (unit == worker.given.end()) return;
    worker.seconds -= unit->second;
    expected_ += unit->second;
    worker.given.erase(unit);
    if (worker.given.empty()) worker.seconds = 0;
    --open_;
  }

  void read(const Letter& letter) {
    Worker& worker = workers_[static_cast<std::size_t>(letter.from)];
    const std::string_view text = std::string_view(letter.text).substr(1);
    switch (static_cast<LetterKind>(letter.text.front())) {
      case LetterKind::ready:
        if (text != plan_) {
          throw RunError(
              fmt::format("{} has planned other work than rank 0: are the files the same there?",
                          ranks_.describe(letter.from)));
        }
        worker.is_ready = true;
        break;
      case LetterKind::result:
      case LetterKind::failure: {
        Unpacker fields(text);
        Done done;
        done.number = fields.get<std::uint64_t>();
        done.outcome.seconds = fields.get<double>();
        done.result = fields.get_text();
        answered(worker, done.number);
        if (static_cast<LetterKind>(letter.text.front()) == LetterKind::failure) {
          throw RunError(fmt::format("{}: {}", ranks_.describe(letter.from), done.result));
        }
        take(std::move(done));
        break;
      }
      case LetterKind::leave: {
        ranks_.note_leave(letter.from);
        Unpacker fields(text);
        fields.get<int>();
        const std::string message = fields.get_text();
        throw RunError(fmt::format("{} has left: {}", ranks_.describe(letter.from),
                                   message.empty() ? "it gives no reason" : message));
      }
      default:
        break;
    }
  }

  void take(Done done) {
    ++state_.done;
    state_.busy_seconds += done.outcome.seconds;
    if (done.outcome.seconds > state_.slowest_seconds) {
      state_.slowest_seconds = done.outcome.seconds;
      state_.slowest_unit = done.number;
    }
    if (hooks_.done) hooks_.done(done.number, std::move(done.result));
  }

  void report(bool is_last) {
    const auto now = Clock::now();
    if (!is_last && now - reported_ < kProgressPause) return;
    reported_ = now;
    state_.added = units_.added();
    state_.wall_seconds = seconds_since(begin_);
    state_.idle =
        ranks_.is_alone()
            ? 0
            : static_cast<int>(std::count_if(workers_.begin(), workers_.end(),
                                             [](const Worker& w) { return w.given.empty(); }));
    if (hooks_.progress) hooks_.progress(state_);
  }

  Ranks& ranks_;
  std::string_view plan_;
  UnitQueue& units_;
  const UnitWork& work_;
  const DispatchHooks& hooks_;
  std::vector<Worker> workers_;  ///< by rank
  std::size_t open_ = 0;         ///< number of dispatched, unanswered units
  double expected_ = 0;          ///< expected seconds of the answered units
  DispatchState state_;
  Clock::time_point begin_ = Clock::now(), reported_ = begin_;
  std::optional<OwnWorker>
      own_;  // declared last, so that it is destroyed before the members that it uses
};

}  // namespace

DispatchState dispatch(Ranks& ranks, std::string_view plan, UnitQueue& units, const UnitWork& work,
                       const DispatchHooks& hooks) {
  return Dispatcher(ranks, plan, units, work, hooks).run();
}

}  // namespace opbench
