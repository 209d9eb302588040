#include "dump/expansion.h"

#include <fmt/format.h>

#include <algorithm>

namespace opbench {
namespace {

constexpr double kHarmless = 512 << 20;  // bytes; 2 s of unpacking
// Honest dumps have tensors of zeros, which deflate packs 1032 to 1, beside others.
constexpr int kMostTimes = 256;

}  // namespace

Expansion::Expansion(std::int64_t file_bytes)
    : left_(std::max(kHarmless, kMostTimes * static_cast<double>(file_bytes))) {}

void Expansion::take(DumpEntry& entry) {
  const double bytes =
      static_cast<double>(entry.desc.elements()) * static_cast<double>(size_of(entry.stored));
  if (bytes <= left_) {
    left_ -= bytes;
    return;
  }
  entry.problem = fmt::format(
      "not read: with it the file unpacks to more than 512 MiB and {} times its size", kMostTimes);
}

}  // namespace opbench
