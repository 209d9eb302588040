#include <limits>
#include <type_traits>

#include "harness/run/field_kinds.h"
#include "harness/run/record.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using namespace field_kinds;

bool has_copy(const Record& r) { return r.copy_gb_per_s > 0; }
bool has_bound(const Record& r) { return r.bound != Bound::unknown; }

constexpr Field kSpeedup = {"speedup_over_native", "",
                            [](const Record& r) {
                              const bool has_one =
                                  is_comparable(r) && r.times->speedup_over_native > 0;
                              return has_one ? Cell(r.times->speedup_over_native) : Cell();
                            },
                            [](const JsonValue& value, Record& r) {
                              const double number = value.is_null() ? 0 : value.number(0, kLargest);
                              if (r.times) r.times->speedup_over_native = number;
                            }};

constexpr Field kStatus = {"status", "",
                           [](const Record& r) -> Cell { return std::string(name(r.status)); },
                           [](const JsonValue& value, Record& r) {
                             value.located([&] { r.status = parse_status(value.text()); });
                           }};

constexpr Field kMismatches = {
    "nonfinite_mismatches", "",
    [](const Record& r) { return r.accuracy ? Cell(r.accuracy->nonfinite_mismatches) : Cell(); },
    [](const JsonValue& value, Record& r) {
      constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
      if (r.accuracy) r.accuracy->nonfinite_mismatches = value.integer(0, kMost);
    }};

constexpr Field kFormula = [] {
  Field field = text<&Record::formula>("formula");
  field.since = 3;
  return field;
}();

constexpr Field kVerified = [] {
  Field field = number_of<&Record::accuracy, &Accuracy::verified_share>("verified_share", "");
  field.since = 6;
  return field;
}();

constexpr Field kPreemptions = {
    "preemptions", "",
    [](const Record& r) {
      return r.times && r.times->preemptions ? Cell(*r.times->preemptions) : Cell();
    },
    [](const JsonValue& value, Record& r) {
      constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
      if (r.times && !value.is_null()) r.times->preemptions = value.integer(0, kMost);
    },
    4};

constexpr Field kCopyWay = {
    "copy_way", "", [](const Record& r) { return r.copy_way.empty() ? Cell() : Cell(r.copy_way); },
    [](const JsonValue& value, Record& r) {
      if (!value.is_null()) r.copy_way = value.text();
    },
    4};

constexpr Field kBound = {
    "bound", "",
    [](const Record& r) {
      return r.bound == Bound::unknown ? Cell() : Cell(std::string(name(r.bound)));
    },
    [](const JsonValue& value, Record& r) {
      if (value.is_null()) return;
      const std::string text = value.text();
      for (const Bound bound : kAllBounds) {
        if (bound != Bound::unknown && text == name(bound)) r.bound = bound;
      }
      if (r.bound == Bound::unknown) {
        value.fail("is '" + text + "'; it must be memory, compute or latency");
      }
    },
    4};

bool has_no_step(const JsonValue& value, const Record& r) {
  if (r.step) return false;
  if (!value.is_null()) value.fail("is set, but the record has no 'step'");
  return true;
}

// True for a step that has a plan. A step that cannot run here has no plan.
bool planned(const Record& r) { return r.step && r.step->nodes > 0; }
bool timed(const Record& r) { return r.is_timed(); }

/// A whole number of a planned step. `nodes` must come first, because the others depend on it.
template <auto member, class T = int>
constexpr Field step_whole(std::string_view name, std::string_view unit = "") {
  return {name, unit,
          [](const Record& r) {
            return planned(r) ? Cell(static_cast<std::int64_t>((*r.step).*member)) : Cell();
          },
          [](const JsonValue& value, Record& r) {
            if (has_no_step(value, r) || (value.is_null() && !planned(r))) return;
            constexpr std::int64_t kMost = std::numeric_limits<
                std::conditional_t<sizeof(T) == sizeof(int), int, std::int64_t>>::max();
            (*r.step).*member = static_cast<T>(value.integer(0, kMost));
          },
          2};
}

/// A number of a step that is written if `has` holds.
template <auto member, bool (*has)(const Record&)>
constexpr Field step_number(std::string_view name, std::string_view unit) {
  return {name, unit,
          [](const Record& r) { return r.step && has(r) ? Cell((*r.step).*member) : Cell(); },
          [](const JsonValue& value, Record& r) {
            if (has_no_step(value, r)) return;
            const double lost = has(r) ? kNaN : 0;
            (*r.step).*member = value.is_null() ? lost : value.number(0, kLargest);
          },
          2};
}

/// A number of a step that is written if it is above 0.
template <auto member>
constexpr Field step_positive(std::string_view name) {
  return {name, "",
          [](const Record& r) {
            return r.step && (*r.step).*member > 0 ? Cell((*r.step).*member) : Cell();
          },
          [](const JsonValue& value, Record& r) {
            if (has_no_step(value, r) || value.is_null()) return;
            (*r.step).*member = value.number(0, kLargest);
          },
          2};
}

constexpr Field kTransData = {
    "trans_data", "",
    [](const Record& r) -> Cell {
      return std::int64_t{r.step ? r.step->trans_data : r.trans_data};
    },
    [](const JsonValue& value, Record& r) {
      r.trans_data = static_cast<int>(value.integer(0, std::numeric_limits<int>::max()));
      if (r.step) r.step->trans_data = r.trans_data;
    }};

constexpr Field kOverflow = {
    "has_overflow", "",
    [](const Record& r) { return planned(r) ? Cell(r.step->has_overflow) : Cell(); },
    [](const JsonValue& value, Record& r) {
      if (has_no_step(value, r) || (value.is_null() && !planned(r))) return;
      r.step->has_overflow = value.boolean();
    },
    2};

constexpr Field kGradientError = {
    "gradient_error", "",
    [](const Record& r) {
      return r.step && r.step->gradient_error ? Cell(*r.step->gradient_error) : Cell();
    },
    [](const JsonValue& value, Record& r) {
      if (has_no_step(value, r) || value.is_null()) return;
      r.step->gradient_error = value.number(0, kLargest);
    },
    4};

constexpr Field kNoise = {
    "noise_percent", "%",
    [](const Record& r) { return r.is_timed() ? Cell(r.times->noise_percent()) : Cell(); },
    [](const JsonValue&, Record&) {}, kDerived};

template <class Number>
Cell positive_cell(Number number) {
  return number > 0 ? Cell(number) : Cell();
}

void read_positive(const JsonValue& value, double& number) {
  if (!value.is_null()) number = value.number(0, kLargest);
}

void read_positive(const JsonValue& value, std::int64_t& number) {
  if (!value.is_null()) number = value.integer(0, std::numeric_limits<std::int64_t>::max());
}

/// A number of the times that is written if it is above 0.
template <auto member>
constexpr Field of_times(std::string_view name, std::string_view unit) {
  return {name, unit,
          [](const Record& r) { return r.times ? positive_cell((*r.times).*member) : Cell(); },
          [](const JsonValue& value, Record& r) {
            if (r.times) read_positive(value, (*r.times).*member);
          },
          7};
}

/// Like `of_times`, for a number of the warm-up.
template <auto member>
constexpr Field of_warm_up(std::string_view name, std::string_view unit) {
  return {
      name, unit,
      [](const Record& r) { return r.times ? positive_cell(r.times->warm_up.*member) : Cell(); },
      [](const JsonValue& value, Record& r) {
        if (r.times) read_positive(value, r.times->warm_up.*member);
      },
      7};
}

constexpr Field kInputCopies = [] {
  Field field = whole<&Record::input_copies, 1>("input_copies");
  field.since = 7;
  return field;
}();

// Samples are in the files, with their marks.
constexpr Field kThrottled = {
    "throttled", "", [](const Record& r) { return r.times ? Cell(r.times->throttled()) : Cell(); },
    [](const JsonValue&, Record&) {}, kDerived};

constexpr Field kThrottledBy = {
    "throttled_by", "",
    [](const Record& r) {
      return r.times && !r.times->throttled_by.empty() ? Cell(r.times->throttled_by) : Cell();
    },
    [](const JsonValue& value, Record& r) {
      if (r.times && !value.is_null()) r.times->throttled_by = value.text();
    },
    7};

constexpr Field kDisturbed = {
    "disturbed", "", [](const Record& r) { return r.is_timed() ? Cell(is_disturbed(r)) : Cell(); },
    [](const JsonValue&, Record&) {}, kDerived};

constexpr Field kFields[] = {
    text<&Record::case_id>("case"),
    text<&Record::case_name>("name"),
    text<&Record::op>("op"),
    text<&Record::variant>("variant"),
    text<&Record::provider>("provider"),
    text<&Record::kernels>("kernels"),
    text<&Record::shape>("shape"),
    text<&Record::attributes>("attributes"),
    text<&Record::dtype>("dtype"),
    text<&Record::format>("format"),
    flag<&Record::backward>("backward"),
    whole<&Record::count>("count"),
    whole<&Record::threads, 1>("threads"),
    text<&Record::isa>("isa"),
    flag<&Record::cold>("cold"),
    kStatus,
    text<&Record::reason>("reason"),
    time<&Times::median_us>("median", "us"),
    time<&Times::mad_us>("mad", "us"),
    time<&Times::cv>("cv", ""),
    time<&Times::min_us>("min", "us"),
    number<&Record::elements>("elements", ""),
    number<&Record::bytes>("bytes", "B"),
    number<&Record::operations>("operations", ""),
    time<&Times::gb_per_s>("gb_per_s", "GB/s"),
    positive<&Record::copy_gb_per_s>("copy_gb_per_s", "GB/s"),
    percent<&Times::percent_of_copy, has_copy>("percent_of_copy"),
    time<&Times::gflop_per_s>("gflop_per_s", "GFLOP/s"),
    time<&Times::gelements_per_s>("gelements_per_s", "G/s"),
    kSpeedup,
    flag<&Record::is_best>("best"),
    kTransData,
    error<&Accuracy::max_ulp>("max_ulp", "ULP"),
    error<&Accuracy::mean_ulp>("mean_ulp", "ULP"),
    error<&Accuracy::max_abs>("max_abs_error", ""),
    number_of<&Record::accuracy, &Accuracy::inside_share>("inside_tolerance", ""),
    error<&Accuracy::min_tolerance>("min_tolerance", ""),
    kMismatches,
    kFormula,
    text<&Record::reproduce>("reproduce"),
    step_whole<&StepDetails::nodes>("nodes"),
    step_number<&StepDetails::trans_data_bytes, planned>("trans_data_bytes", "B"),
    step_whole<&StepDetails::casts>("casts"),
    step_whole<&StepDetails::copies>("copies"),
    step_whole<&StepDetails::peak_bytes, std::size_t>("peak_bytes", "B"),
    step_whole<&StepDetails::unshared_bytes, std::size_t>("unshared_bytes", "B"),
    step_number<&StepDetails::planning_ms, planned>("planning_ms", "ms"),
    step_number<&StepDetails::us_per_sample, timed>("us_per_sample", ""),
    step_positive<&StepDetails::speedup_over_previous>("speedup_over_previous"),
    step_positive<&StepDetails::speedup_over_first>("speedup_over_first"),
    kOverflow,
    step_positive<&StepDetails::loss_scale>("loss_scale"),
    step_whole<&StepDetails::skipped_updates>("skipped_updates"),
    kPreemptions,
    kCopyWay,
    positive<&Record::peak_gflop_per_s>("peak_gflop_per_s", "GFLOP/s", 4),
    kBound,
    percent<&Times::percent_of_roofline, has_bound>("percent_of_roofline", 4),
    kGradientError,
    positive<&Record::weight_us>("weight", "us", 5),
    kDisturbed,
    kVerified,
    kNoise,
    of_times<&Times::noise_limit_percent>("noise_limit_percent", "%"),
    of_warm_up<&WarmUp::calls>("warmup_calls", ""),
    of_warm_up<&WarmUp::us>("warmup", "us"),
    of_warm_up<&WarmUp::first_us>("first_call", "us"),
    kInputCopies,
    of_times<&Times::clock_before_mhz>("clock_before_mhz", "MHz"),
    of_times<&Times::clock_after_mhz>("clock_after_mhz", "MHz"),
    kThrottled,
    of_times<&Times::retaken>("retaken", ""),
    kThrottledBy,
};

}  // namespace

std::span<const Field> record_fields() { return kFields; }

std::string column_name(const Field& field) {
  const std::string name(field.name);
  return field.unit == "us" ? name + "_us" : name;
}

}  // namespace opbench
