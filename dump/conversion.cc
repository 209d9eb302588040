#include "dump/conversion.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void ConvertOutcome::add(ConvertOutcome&& other) {
  sources += other.sources;
  written += other.written;
  append(remarks, std::move(other.remarks));
  append(failures, std::move(other.failures));
}

void ConvertOutcome::attempt(const std::string& file, const std::function<void()>& work) {
  try {
    work();
  } catch (const RunError& error) {
    failures.push_back({file, error.what(), true});
  } catch (const Error& error) {
    failures.push_back({file, error.what(), false});
  } catch (const std::bad_alloc&) {
    failures.push_back({file, file + ": out of memory", true});
  } catch (const std::exception& error) {
    failures.push_back({file, file + ": " + error.what(), true});
  }
}

MemoryBudget::MemoryBudget()
    : total_(static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 4) {}

MemoryBudget::Share::Share(MemoryBudget& budget, std::int64_t bytes)
    : budget_(budget), bytes_(std::min(bytes, budget.total_)) {
  std::unique_lock lock(budget_.mutex_);
  budget_.freed_.wait(lock, [&] { return budget_.used_ + bytes_ <= budget_.total_; });
  budget_.used_ += bytes_;
}

MemoryBudget::Share::~Share() {
  {
    const std::lock_guard lock(budget_.mutex_);
    budget_.used_ -= bytes_;
  }
  budget_.freed_.notify_all();
}

void for_each_file(std::size_t count, const std::function<void(std::size_t index)>& work,
                   const std::function<bool()>& stop) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count && !stop(); i = next++) work(i);
  };
  std::vector<std::jthread> others;
  const auto threads = std::min(static_cast<std::size_t>(thread_count()), count);
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(run);
  run();
}

}  // namespace opbench
