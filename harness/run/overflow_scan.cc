#include "harness/run/overflow_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "judge/stored_values.h"
#include "tensor/elements.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr double kLargestHalf = 65504;  // largest finite fp16 number
constexpr int kHalfExponent = -14;      // of its smallest normal number

ValueRange range_of(DumpSource& file, const DumpEntry& entry, DType counted_as) {
  ValueRange range;
  range.dtype = counted_as;
  std::vector<std::byte> stored;
  std::vector<double> values;
  for (std::int64_t i = 0; i < block_count(entry.desc); ++i) {
    const ElementRange part = block(entry.desc, i);
    stored.resize(static_cast<std::size_t>(part.count) * size_of(entry.stored));
    values.resize(static_cast<std::size_t>(part.count));
    file.read(entry, part, stored.data());
    values_to_doubles({entry.stored, entry.desc.dtype}, stored.data(), part.count, values.data());
    range.add(values.data(), part.count);
  }
  return range;
}

bool is_read(const DumpEntry& entry) {
  return entry.kind == EntryKind::tensor && is_floating(entry.desc.dtype) &&
         entry.stored != StoredType::none && entry.desc.elements() > 0;
}

std::vector<const DumpRecord*> wanted_records(DumpSource& file, const ScanOptions& options) {
  std::vector<const DumpRecord*> records;
  for (const DumpRecord& record : file.records()) {
    const std::string path = fmt::format("{}/{}", record.op, record.seq_text);
    if (!options.only || options.only(record.op) || options.only(path)) records.push_back(&record);
  }
  std::stable_sort(records.begin(), records.end(), [](const DumpRecord* a, const DumpRecord* b) {
    return std::tuple(!a->seq.has_value(), a->seq.value_or(0)) <
           std::tuple(!b->seq.has_value(), b->seq.value_or(0));
  });
  return records;
}

/// Values of one dtype from the first backward node on.
struct BackwardValues {
  ValueRange gradients;
  double max_abs = 0;
  std::string path;  // of the tensor that holds it
  bool has_overflow = false;

  void add(const ValueRange& range, const std::string& tensor, bool is_gradient) {
    if (is_gradient) gradients.merge(range);
    has_overflow |= range.nan + range.inf + range.largest > 0;
    if (range.max_abs <= max_abs) return;
    max_abs = range.max_abs;
    path = tensor;
  }
};

// The largest product of the recorded scale and a power of two that keeps `magnitude` within
// `bound`.
double largest_scale(double recorded, double magnitude, double bound) {
  return recorded * std::exp2(std::floor(std::log2(bound / magnitude)));
}

LossScaleAdvice advice_of(const BackwardValues& values, bool is_half, double recorded) {
  LossScaleAdvice advice;
  advice.recorded = recorded;
  advice.is_half = is_half;
  advice.limit = values.path;
  advice.limit_value = values.max_abs;
  advice.gradients = values.gradients;
  if (!values.has_overflow && values.max_abs > 0) {
    advice.largest = largest_scale(recorded, values.max_abs, kLargestHalf);
  }
  const ValueRange& all = values.gradients;
  const auto nonzero = static_cast<double>(all.elements - all.zero - all.nan - all.inf);
  if (nonzero == 0) return advice;
  // A factor of 2^k lifts values of at least 2^(-14 - k) to normal numbers.
  for (int k = -kHalfExponent - ValueRange::kBias + 1; k < ValueRange::kBias; ++k) {
    const auto lost = static_cast<double>(all.below(kHalfExponent - k));
    if (lost > LossScaleAdvice::kLost * nonzero) continue;
    advice.smallest = recorded * std::exp2(k);
    break;
  }
  return advice;
}

/// Scans the records of one dump in order.
class Scanner {
 public:
  Scanner(DumpSource& file, double loss_scale) : file_(file), loss_scale_(loss_scale) {}

  ScannedRecord scan(const DumpRecord& record) {
    ScannedRecord scanned;
    scanned.op = record.op;
    scanned.seq = record.seq_text;
    const bool is_gradient = is_backward(record.op);
    is_behind_ |= is_gradient;
    try {
      // Inf, NaN and saturated values of inputs are counted for all dtypes.
      ValueRange inputs;
      for (const DumpEntry* entry : record.on(Side::input)) {
        if (is_read(*entry)) add_input(*entry, is_gradient, inputs);
      }
      for (const DumpEntry* entry : record.on(Side::output)) {
        if (is_read(*entry)) add_output(*entry, inputs, is_gradient, scanned);
      }
    } catch (const Error& error) {
      scanned.problem = error.what();
    }
    return scanned;
  }

  std::optional<LossScaleAdvice> advice() const {
    if (half_.gradients.elements > 0) return advice_of(half_, true, loss_scale_);
    if (single_.gradients.elements > 0) return advice_of(single_, false, loss_scale_);
    return std::nullopt;
  }

 private:
  // The dtype also limits a gradient that a backward node receives: the gradient of the loss is the
  // loss scale.
  void add_input(const DumpEntry& entry, bool is_gradient, ValueRange& inputs) {
    const ValueRange range = range_of(file_, entry, DType::fp16);
    inputs.merge(range);
    if (is_gradient && entry.name.starts_with("grad")) {
      add_backward(entry, range, false);
    }
  }

  void add_backward(const DumpEntry& entry, const ValueRange& range, bool is_gradient) {
    if (entry.desc.dtype == DType::fp16) half_.add(range, entry.path, is_gradient);
    if (entry.desc.dtype == DType::fp32) single_.add(range, entry.path, is_gradient);
  }

  void add_output(const DumpEntry& entry, const ValueRange& inputs, bool is_gradient,
                  ScannedRecord& scanned) {
    const DType dtype = entry.desc.dtype;
    const ValueRange range = range_of(file_, entry, dtype);
    scanned.found.add(new_values(inputs, range));
    scanned.elements += range.elements;
    const std::optional<double> bits = range.headroom_bits();
    if (bits && (!scanned.headroom_bits || *bits < *scanned.headroom_bits)) {
      scanned.headroom_bits = bits;
      scanned.dtype = name(dtype);
      scanned.path = entry.path;
    }
    if (is_behind_) add_backward(entry, range, is_gradient);
  }

  DumpSource& file_;
  double loss_scale_;
  bool is_behind_ = false;  // the first backward node has been read
  BackwardValues half_, single_;
};

}  // namespace

bool is_backward(std::string_view op) {
  return op.find("Backward") != op.npos || op.find("Backprop") != op.npos ||
         op.find("Grad") != op.npos || op.find("_backward") != op.npos;
}

double LossScaleAdvice::zero_share() const {
  if (gradients.elements == 0) return 0;
  return static_cast<double>(gradients.zero) / static_cast<double>(gradients.elements);
}

double LossScaleAdvice::subnormal_share() const {
  const std::int64_t nonzero = gradients.elements - gradients.zero - gradients.nan - gradients.inf;
  if (nonzero == 0) return 0;
  return static_cast<double>(gradients.below(kHalfExponent)) / static_cast<double>(nonzero);
}

const ScannedRecord* OverflowScan::first() const {
  const auto found = std::find_if(records.begin(), records.end(),
                                  [](const ScannedRecord& r) { return r.has_overflow(); });
  return found == records.end() ? nullptr : &*found;
}

std::int64_t OverflowScan::count() const {
  return std::count_if(records.begin(), records.end(),
                       [](const ScannedRecord& r) { return r.has_overflow(); });
}

OverflowScan scan_for_overflow(
    DumpSource& file, const ScanOptions& options,
    const std::function<void(std::size_t done, std::size_t all)>& progress,
    const std::function<bool()>& stop) {
  OverflowScan scan;
  scan.file = file.name();
  const std::vector<const DumpRecord*> records = wanted_records(file, options);
  scan.problems = file.problems();
  Scanner scanner(file, options.loss_scale);
  for (std::size_t i = 0; i < records.size() && !stop(); ++i) {
    progress(i, records.size());
    scan.records.push_back(scanner.scan(*records[i]));
  }
  scan.advice = scanner.advice();
  return scan;
}

}  // namespace opbench
