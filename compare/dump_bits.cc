#include "compare/dump_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "compare/differing_numbers.h"
#include "compare/match_dumps.h"
#include "judge/comparable.h"
#include "judge/judge.h"
#include "judge/stored_values.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::int64_t kChunk = std::int64_t{1} << 20;  // elements

/// The parts of two tensors that are compared.
struct Parts {
  std::int64_t count = 0, first_at = 0, second_at = 0;
  std::string how;     ///< "row 3 of b.h5"; empty: all
  std::string reason;  ///< why they cannot be compared
};

std::int64_t rows_of(const DumpEntry& entry) {
  return entry.desc.shape.empty() ? 1 : entry.desc.shape[0];
}

// Elements before the rows of the larger tensor.
std::int64_t skipped(const DumpEntry& larger, std::int64_t row) {
  return larger.desc.elements() / rows_of(larger) * row;
}

bool have_same_rows(const Dims& a, const Dims& b) {
  return a.size() == b.size() && !a.empty() && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

std::string rows_text(std::int64_t row, std::int64_t rows, const std::string& file) {
  if (rows == 1) return fmt::format("row {} of {}", row, file);
  return fmt::format("rows {} to {} of {}", row, row + rows - 1, file);
}

/// Compares calls of two dumps.
class BitCheck {
 public:
  BitCheck(DumpSource& first, DumpSource& second, const BitOptions& options)
      : first_(first), second_(second), options_(options) {}

  CallBits check(const OperatorMatch& match) {
    CallBits call;
    const DumpRecord& record = match.actual != nullptr ? *match.actual : *match.expected;
    call.op = record.op;
    call.seq = record.seq_text;
    if (const std::string* module = record.note("opbench_module")) call.module = *module;
    if (match.actual == nullptr || match.expected == nullptr) {
      call.explanation = "only in " + (match.actual != nullptr ? first_ : second_).name();
      return call;
    }
    call.has_equal_inputs = true;
    for (const TensorMatch& tensors : match.tensors) take(tensors, call);
    settle(match, call);
    return call;
  }

 private:
  void take(const TensorMatch& match, CallBits& call) {
    const DumpEntry& entry = match.actual != nullptr ? *match.actual : *match.expected;
    if (entry.side == Side::other) return;
    OutputBits found = compare(match);
    found.name = entry.name;
    if (entry.side == Side::output)
      call.outputs.push_back(std::move(found));
    else if (found.differs())
      call.has_equal_inputs = false;
    else if (!found.reason.empty() && call.has_equal_inputs == true)
      call.has_equal_inputs.reset();
  }

  Parts parts_of(const TensorMatch& match) const {
    const SideNames sides{first_.name(), second_.name()};
    const Dims &a = match.actual->desc.shape, &b = match.expected->desc.shape;
    Parts parts;
    parts.count = match.actual->desc.elements();
    if (a == b) {
      parts.reason = obstacle(match, sides).reason;
      return parts;
    }
    if (!have_same_rows(a, b)) {
      parts.reason = fmt::format("the shapes {} and {} differ", to_string(a), to_string(b));
      return parts;
    }
    const bool is_first_larger = a[0] > b[0];
    const DumpEntry& larger = is_first_larger ? *match.actual : *match.expected;
    const std::int64_t rows = std::min(a[0], b[0]);
    if (options_.row + rows > rows_of(larger) || rows == 0) {
      parts.reason = fmt::format("{} has rows 0 to {}", larger.path, rows_of(larger) - 1);
      return parts;
    }
    parts.count = std::min(parts.count, match.expected->desc.elements());
    (is_first_larger ? parts.first_at : parts.second_at) = skipped(larger, options_.row);
    parts.how = rows_text(options_.row, rows, (is_first_larger ? first_ : second_).name());
    for (const DumpEntry* entry : {match.actual, match.expected}) {
      if (parts.reason.empty()) parts.reason = obstacle({entry, entry}).reason;
    }
    return parts;
  }

  OutputBits compare(const TensorMatch& match) {
    OutputBits found;
    if (match.actual == nullptr || match.expected == nullptr) {
      found.reason = "only in " + (match.actual != nullptr ? first_ : second_).name();
      return found;
    }
    const DumpEntry &a = *match.actual, &b = *match.expected;
    const Parts parts = parts_of(match);
    found.reason = parts.reason;
    if (found.reason.empty() && (a.stored != b.stored || a.desc.dtype != b.desc.dtype))
      found.reason =
          fmt::format("the dtypes {} and {} differ", name(a.desc.dtype), name(b.desc.dtype));
    if (!found.reason.empty()) return found;
    found.elements = parts.count;
    try {
      compare(a, b, parts, found);
    } catch (const Error& error) {
      found = {};
      found.reason = error.what();
    }
    return found;
  }

  void compare(const DumpEntry& a, const DumpEntry& b, const Parts& parts, OutputBits& found) {
    const std::size_t size = size_of(a.stored);
    std::vector<std::byte> x(static_cast<std::size_t>(std::min(kChunk, parts.count)) * size), y = x;
    for (std::int64_t begin = 0; begin < parts.count; begin += kChunk) {
      const std::int64_t count = std::min(kChunk, parts.count - begin);
      first_.read(a, {parts.first_at + begin, count}, x.data());
      second_.read(b, {parts.second_at + begin, count}, y.data());
      const std::size_t bytes = static_cast<std::size_t>(count) * size;
      if (std::memcmp(x.data(), y.data(), bytes) == 0) continue;
      for (std::size_t at = 0; at < bytes; at += size) {
        if (std::memcmp(x.data() + at, y.data() + at, size) == 0) continue;
        if (found.unequal++ > 0) continue;
        const auto place = begin + static_cast<std::int64_t>(at / size);
        note_first(a, parts, place, x.data() + at, y.data() + at, found);
      }
    }
  }

  // The place is that in the first dump.
  static void note_first(const DumpEntry& entry, const Parts& parts, std::int64_t place,
                         const std::byte* x, const std::byte* y, OutputBits& found) {
    double here = 0, there = 0;
    values_to_doubles({entry.stored, entry.desc.dtype}, x, 1, &here);
    values_to_doubles({entry.stored, entry.desc.dtype}, y, 1, &there);
    found.first = {parts.how, entry.name + index_text(entry.desc.shape, parts.first_at + place),
                   value_text(here), value_text(there)};
    found.first_ulp = ulp_distance(entry.desc.dtype, here, there);
  }

  void settle(const OperatorMatch& match, CallBits& call) {
    const bool differs = std::any_of(call.outputs.begin(), call.outputs.end(),
                                     [](const OutputBits& output) { return output.differs(); });
    const auto unread =
        std::find_if(call.outputs.begin(), call.outputs.end(),
                     [](const OutputBits& output) { return !output.reason.empty(); });
    if (differs) {
      explain(match, call);
    } else if (call.outputs.empty() || unread != call.outputs.end()) {
      call.explanation = call.outputs.empty() ? "no output is recorded" : unread->reason;
    } else {
      call.state = InvarianceCell::same;
    }
  }

  void explain(const OperatorMatch& match, CallBits& call) {
    call.state = InvarianceCell::differs;
    const JudgedRecord a = judge_record(first_, *match.actual, *options_.table, options_.judging);
    const JudgedRecord b =
        judge_record(second_, *match.expected, *options_.table, options_.judging);
    for (const auto& [judged, file] : {std::pair(&a, &first_), std::pair(&b, &second_)}) {
      if (judged->ruling == Ruling::ok) continue;
      const OutputFinding* const worst = judged->worst();
      call.explanation =
          judged->ruling == Ruling::guilty
              ? fmt::format("wrong for its inputs in {}: {}", file->name(), worst->reason)
          : judged->ruling == Ruling::random ? "it draws random numbers"
                                             : fmt::format("not recomputed: {}", judged->reason);
      if (judged->ruling == Ruling::guilty) return;
    }
    if (!call.explanation.empty()) return;
    call.state = InvarianceCell::near;
    const std::string numbers = differing_numbers(first_, *match.actual, second_, *match.expected);
    if (!numbers.empty())
      call.explanation = "both are right for their own inputs: " + numbers;
    else if (call.has_equal_inputs == true)
      call.explanation =
          "its inputs are equal, and both are right: the order of sums or the formula differs";
    else if (call.has_equal_inputs == false)
      call.explanation = "its inputs differ, and both are right for their own inputs";
    else
      call.explanation = "both are right for their own inputs, which were not all compared";
  }

  DumpSource &first_, &second_;
  const BitOptions& options_;
};

}  // namespace

std::int64_t BitComparison::count(InvarianceCell::State state) const {
  return std::count_if(calls.begin(), calls.end(),
                       [&](const CallBits& call) { return call.state == state; });
}

const CallBits* BitComparison::first_difference() const {
  const auto found = std::find_if(calls.begin(), calls.end(), [](const CallBits& call) {
    return call.state == InvarianceCell::near || call.state == InvarianceCell::differs;
  });
  return found == calls.end() ? nullptr : &*found;
}

BitComparison compare_bits(DumpSource& first, DumpSource& second, const BitOptions& options) {
  BitComparison result{first.name(), second.name(), {}};
  const std::vector<OperatorMatch> matches = match_dumps(
      {first.records(), first.strays()}, {second.records(), second.strays()}, default_name_map());
  BitCheck check(first, second, options);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (options.stop && options.stop()) {
      result.is_partial = true;
      break;
    }
    if (options.progress) options.progress(i, matches.size());
    if (matches[i].actual == nullptr && matches[i].expected == nullptr) continue;  // strays
    result.calls.push_back(check.check(matches[i]));
  }
  return result;
}

}  // namespace opbench
