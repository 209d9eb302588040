#include "workers/measuring_turn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tensor/error.h"

namespace opbench {
namespace {

int open_lock(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file >= 0) return file;
  throw RunError(fmt::format("cannot write '{}', by which processes take turns to measure: {}",
                             path, std::strerror(errno)));
}

void lock(int file, int how) {
  while (flock(file, how) != 0 && errno == EINTR) {
  }
}

}  // namespace

MeasuringTurns::MeasuringTurns(const std::string& file, std::function<void(bool)> waits)
    : waits_(std::move(waits)), gate_(open_lock(file + ".gate")) {
  try {
    turn_ = open_lock(file);
  } catch (...) {
    close(gate_);
    throw;
  }
}

MeasuringTurns::~MeasuringTurns() {
  close(turn_);
  close(gate_);
}

// A process that waits for a turn alone holds the gate meanwhile, so that computing processes
// cannot postpone it forever.
void MeasuringTurns::begin(bool is_alone) const {
  if (waits_) waits_(true);
  lock(turn_, LOCK_UN);
  lock(gate_, LOCK_EX);
  lock(turn_, is_alone ? LOCK_EX : LOCK_SH);
  lock(gate_, LOCK_UN);
  if (waits_) waits_(false);
}

void MeasuringTurns::end() const { lock(turn_, LOCK_UN); }

std::string measuring_turns_file() {
  return fmt::format("/tmp/opbench-{}-measuring.lock", geteuid());
}

}  // namespace opbench
