#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "dump/arrays/pickle.h"
#include "tensor/error.h"

namespace opbench {

/// Sequential reader of a pickle's bytes, which it fetches in pieces. Errors: throws Error "pickle,
/// byte {n}: ..." if the data ends too soon.
class PickleBytes {
 public:
  PickleBytes(const ReadBytes& read, std::int64_t start, std::int64_t bytes)
      : read_(read), place_(start), bytes_(bytes) {}

  std::int64_t place() const { return place_; }

  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(fmt::format("pickle, byte {}: {}", place_, reason));
  }

  std::string next(std::uint64_t count) {
    constexpr std::uint64_t kLongest = 64 << 20;  // bytes
    if (count > kLongest || count > static_cast<std::uint64_t>(bytes_ - place_)) {
      fail(fmt::format("length: found {}, but {} bytes are left", count, bytes_ - place_));
    }
    std::string result(count, '\0');
    for (std::size_t done = 0; done < result.size();) {
      if (place_ < first_ || place_ >= first_ + std::ssize(piece_)) fetch();
      const auto at = static_cast<std::size_t>(place_ - first_);
      const std::size_t taken = std::min(result.size() - done, piece_.size() - at);
      std::memcpy(result.data() + done, piece_.data() + at, taken);
      done += taken;
      place_ += static_cast<std::int64_t>(taken);
    }
    return result;
  }

  // The pickle format is little-endian on every machine.
  template <class T>
  T number() {
    const std::string text = next(sizeof(T));
    T value{};
    std::memcpy(&value, text.data(), sizeof value);
    return value;
  }

  std::string line() {
    constexpr std::size_t kLongest = 1000;  // bytes; lines hold names and numbers
    std::string result;
    for (char letter = next(1)[0]; letter != '\n'; letter = next(1)[0]) {
      result += letter;
      if (result.size() > kLongest) fail("a line without end");
    }
    return result;
  }

 private:
  void fetch() {
    constexpr std::int64_t kPiece = 64 << 10;  // bytes
    piece_.resize(static_cast<std::size_t>(std::min(kPiece, bytes_ - place_)));
    first_ = place_;
    read_(place_, piece_.size(), piece_.data());
  }

  const ReadBytes& read_;
  std::int64_t place_, bytes_;
  std::int64_t first_ = 0;  // offset of the piece
  std::string piece_;
};

}  // namespace opbench
