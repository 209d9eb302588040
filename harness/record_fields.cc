#include <limits>

#include "harness/json_reader.h"
#include "harness/record.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <auto member>
constexpr Field text(std::string_view name) {
  return {name, "", [](const Record& r) -> Cell { return r.*member; },
          [](const JsonValue& value, Record& r) { r.*member = value.text(); }};
}

template <auto member>
constexpr Field flag(std::string_view name) {
  return {name, "", [](const Record& r) -> Cell { return r.*member; },
          [](const JsonValue& value, Record& r) { r.*member = value.boolean(); }};
}

template <auto member, int least = 0>
constexpr Field whole(std::string_view name) {
  return {name, "", [](const Record& r) -> Cell { return std::int64_t{r.*member}; },
          [](const JsonValue& value, Record& r) {
            constexpr int kMost = std::numeric_limits<int>::max();
            r.*member = static_cast<int>(value.integer(least, kMost));
          }};
}

/// A number that is there where `has` holds. Where it is an error, null there means infinite.
template <auto member, bool (*has)(const Record&), bool is_error = false>
constexpr Field number(std::string_view name, std::string_view unit) {
  return {name, unit, [](const Record& r) { return has(r) ? Cell(r.*member) : Cell(); },
          [](const JsonValue& value, Record& r) {
            const double lost = !has(r) ? 0 : is_error ? kInfinity : kNaN;
            r.*member = value.is_null() ? lost : value.number(0, kLargest);
          }};
}

/// A number that is there where it is above 0.
template <auto member>
constexpr Field positive(std::string_view name, std::string_view unit) {
  return {name, unit, [](const Record& r) { return r.*member > 0 ? Cell(r.*member) : Cell(); },
          [](const JsonValue& value, Record& r) {
            r.*member = value.is_null() ? 0 : value.number(0, kLargest);
          }};
}

bool always(const Record&) { return true; }
bool timed(const Record& r) { return r.is_timed(); }
bool copied(const Record& r) { return r.is_timed() && r.copy_gb_per_s > 0; }
bool compared(const Record& r) { return r.is_compared; }

template <auto member>
constexpr Field error(std::string_view name, std::string_view unit) {
  return number<member, compared, true>(name, unit);
}

constexpr Field kStatus = {"status", "",
                           [](const Record& r) -> Cell { return std::string(name(r.status)); },
                           [](const JsonValue& value, Record& r) {
                             value.located([&] { r.status = parse_status(value.text()); });
                           }};

constexpr Field kMismatches = {
    "nonfinite_mismatches", "",
    [](const Record& r) { return r.is_compared ? Cell(r.nonfinite_mismatches) : Cell(); },
    [](const JsonValue& value, Record& r) {
      constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
      r.nonfinite_mismatches = value.is_null() ? 0 : value.integer(0, kMost);
    }};

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
    number<&Record::median_us, timed>("median", "us"),
    number<&Record::mad_us, timed>("mad", "us"),
    number<&Record::cv, timed>("cv", ""),
    number<&Record::min_us, timed>("min", "us"),
    number<&Record::elements, always>("elements", ""),
    number<&Record::bytes, always>("bytes", "B"),
    number<&Record::operations, always>("operations", ""),
    number<&Record::gb_per_s, timed>("gb_per_s", "GB/s"),
    positive<&Record::copy_gb_per_s>("copy_gb_per_s", "GB/s"),
    number<&Record::percent_of_copy, copied>("percent_of_copy", "%"),
    number<&Record::gflop_per_s, timed>("gflop_per_s", "GFLOP/s"),
    number<&Record::gelements_per_s, timed>("gelements_per_s", "G/s"),
    positive<&Record::speedup_over_native>("speedup_over_native", ""),
    flag<&Record::is_best>("best"),
    whole<&Record::trans_data>("trans_data"),
    error<&Record::max_ulp>("max_ulp", "ULP"),
    error<&Record::mean_ulp>("mean_ulp", "ULP"),
    error<&Record::max_abs>("max_abs_error", ""),
    number<&Record::inside_share, compared>("inside_tolerance", ""),
    error<&Record::min_tolerance>("min_tolerance", ""),
    kMismatches,
    text<&Record::reproduce>("reproduce"),
};

}  // namespace

std::span<const Field> record_fields() { return kFields; }

std::string column_name(const Field& field) {
  const std::string name(field.name);
  return field.unit == "us" ? name + "_us" : name;
}

}  // namespace opbench
