#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "harness/record/record.h"

namespace opbench {

class DumpWriter;

struct RunHooks {
  /// Before each case: cases done so far, cases in all.
  std::function<void(std::size_t done, std::size_t total)> progress;
  /// What is being done, for a progress line.
  std::function<void(const std::string& what)> activity;
  /// Takes the inputs and outputs of everything that runs; null: no dump is wanted.
  DumpWriter* dump = nullptr;
  /// The records of each case as soon as they are complete.
  std::function<void(std::span<const Record> records)> case_done;
};

}  // namespace opbench
