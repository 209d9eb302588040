#include "harness/run/invariance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "harness/run/batch_rows.h"
#include "judge/compare_values.h"
#include "judge/standards.h"
#include "tensor/error.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

constexpr std::string_view kNames[] = {"repeats",    "threads", "batch", "alignment",
                                       "neighbours", "format",  "isa"};

// Compares elements. The payload of a NaN may differ if values are computed or converted.
bool is_same(const Op& op, DType dtype, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, size_of(dtype)) == 0) return true;
  if (op.accuracy == AccuracyClass::exact || !is_floating(dtype)) return false;
  double x = 0, y = 0;
  to_doubles(dtype, a, 1, &x);
  to_doubles(dtype, b, 1, &y);
  return std::isnan(x) && std::isnan(y);
}

class Check {
 public:
  Check(const Kernel& kernel, const Case& c) : kernel_(kernel), case_(c), problem_(problem_of(c)) {}

  InvarianceRow run() {
    InvarianceRow row{std::string(kernel_.name), case_id(case_), refusal(kernel_, problem_), {}};
    if (!row.refusal.empty()) return row;
    for (InvarianceCell& cell : row.cells)
      cell.reason = "the kernel is in another process, with copies of its tensors";
    inputs_ = elements_of(case_, problem_, seed_of(case_), kernel_.takes);
    try {
      first_ = run_kernel_on(kernel_, problem_, inputs_, {});
    } catch (const RefusedValues& refused) {
      row.refusal = refused.what();
      return row;
    }
    const auto set = [&](Invariance column, InvarianceCell cell) {
      row.cells[static_cast<std::size_t>(column)] = std::move(cell);
    };
    set(Invariance::repeats, repeats());
    set(Invariance::threads, threads());
    set(Invariance::batch, batch());
    set(Invariance::format, formats());
    if (kernel_.origin.is_outside()) return row;
    set(Invariance::alignment, alignment());
    set(Invariance::neighbours, neighbours());
    set(Invariance::isa, isas());
    return row;
  }

 private:
  // Sets the cell by one more run. `is_free`: identical bits are not guaranteed.
  void compare(InvarianceCell& cell, const std::string& how, const std::vector<Elements>& found,
               bool is_free) const {
    if (cell.state == InvarianceCell::differs) return;
    if (cell.state == InvarianceCell::not_applicable) cell.state = InvarianceCell::same;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::optional<std::int64_t> place = first_difference(i, first_[i], found[i]);
      if (!place) continue;
      const bool is_near = is_free && is_inside(i, found[i]);
      const auto state = is_near ? InvarianceCell::near : InvarianceCell::differs;
      if (cell.state == state) return;
      cell.state = state;
      cell.first = difference(i, *place, how, found[i]);
      return;
    }
  }

  std::optional<std::int64_t> first_difference(std::size_t output, const Elements& a,
                                               const Elements& b) const {
    const TensorDesc& desc = problem_.outputs[output];
    const std::size_t size = size_of(desc.dtype);
    if (std::memcmp(a.data(), b.data(), a.size()) == 0) return std::nullopt;
    for (std::int64_t k = 0; k < desc.elements(); ++k) {
      const std::size_t at = static_cast<std::size_t>(k) * size;
      if (!is_same(*problem_.op, desc.dtype, a.data() + at, b.data() + at)) return k;
    }
    return std::nullopt;
  }

  bool is_inside(std::size_t output, const Elements& found) const {
    const TensorDesc& desc = problem_.outputs[output];
    if (problem_.op->accuracy != AccuracyClass::rounded || !is_floating(desc.dtype)) return false;
    const Standard standard{.kind = StandardKind::mixed,
                            .tolerance = mixed_tolerance(kernel_.judged_as.value_or(desc.dtype))};
    return compare_values(found.data(), desc.dtype, first_[output].data(), desc.dtype,
                          desc.elements(), standard, desc.shape)
               .judgement.verdict != Verdict::failed;
  }

  Difference difference(std::size_t output, std::int64_t place, const std::string& how,
                        const Elements& found) const {
    const TensorDesc& desc = problem_.outputs[output];
    const auto text = [&](const Elements& elements) {
      double value = 0;
      to_doubles(desc.dtype,
                 elements.data() + static_cast<std::size_t>(place) * size_of(desc.dtype), 1,
                 &value);
      return value_text(value);
    };
    return {how, problem_.op->output_name(problem_, output) + index_text(desc.shape, place),
            text(first_[output]), text(found)};
  }

  InvarianceCell repeats() const {
    InvarianceCell cell;
    for (int i = 2; i <= 5; ++i) {
      compare(cell, fmt::format("run {}", i), run_kernel_on(kernel_, problem_, inputs_, {}), false);
    }
    return cell;
  }

  InvarianceCell threads() const {
    InvarianceCell cell;
    for (const int threads : {2, 3, 7}) {
      compare(cell, fmt::format("{} threads", threads),
              run_kernel_on(kernel_, problem_, inputs_, {.threads = threads}), false);
    }
    const bool is_library = kernel_.sums_by_thread && !kernel_.origin.is_outside();
    if (is_library && cell.state == InvarianceCell::differs) {
      cell.state = InvarianceCell::open;
    }
    return cell;
  }

  InvarianceCell batch() const {
    const std::optional<BatchRows> rows = find_batch_rows(problem_, inputs_);
    if (!rows) {
      return {InvarianceCell::not_applicable, {}, "a row's results depend on the other rows"};
    }
    InvarianceCell cell;
    for (const std::int64_t row : rows->some()) {
      const Problem alone = rows->problem_of_row();
      if (const std::string reason = refusal(kernel_, alone); !reason.empty()) {
        return {InvarianceCell::not_applicable, {}, reason};
      }
      std::vector<Elements> found = first_;
      rows->put(row, run_kernel_on(kernel_, alone, rows->inputs_of(row, inputs_), {}), found);
      compare(cell, fmt::format("row {} alone", row), found, true);
    }
    return cell;
  }

  InvarianceCell alignment() const {
    InvarianceCell cell;
    for (const std::size_t offset : {std::size_t{64}, std::size_t{192}, std::size_t{1984}}) {
      compare(cell, fmt::format("{} bytes behind a page", offset),
              run_kernel_on(kernel_, problem_, inputs_, {.offset = offset}), false);
    }
    return cell;
  }

  InvarianceCell neighbours() const {
    InvarianceCell cell;
    for (const int byte : {0x00, 0x3C, 0x7B}) {
      compare(cell, fmt::format("bytes {:#04x} around", byte),
              run_kernel_on(kernel_, problem_, inputs_, {.around = byte}), false);
      compare(cell, fmt::format("bytes {:#04x} in the result before", byte),
              run_kernel_on(kernel_, problem_, inputs_, {.before = byte}), false);
    }
    return cell;
  }

  InvarianceCell formats() const {
    InvarianceCell cell{InvarianceCell::not_applicable, {}, "no other format takes it"};
    for (const Format format : problem_.op->formats) {
      if (format == case_.format) continue;
      Case other = case_;
      other.format = format;
      try {
        const Problem problem = problem_of(other);
        if (problem.inputs == problem_.inputs || !refusal(kernel_, problem).empty()) continue;
        compare(cell, std::string(name(format)), run_kernel_on(kernel_, problem, inputs_, {}),
                true);
      } catch (const Error&) {
        continue;  // the shape does not fit the format
      }
    }
    return cell;
  }

  InvarianceCell isas() const {
    InvarianceCell cell{
        InvarianceCell::not_applicable, {}, "this machine has a single instruction set"};
    for (const std::string& isa : supported_isas()) {
      if (isa == current_isa()) continue;
      compare(cell, isa, run_kernel_on(kernel_, problem_, inputs_, {.isa = isa}), true);
    }
    return cell;
  }

  const Kernel& kernel_;
  const Case& case_;
  Problem problem_;
  InputElements inputs_;
  std::vector<Elements> first_;
};

}  // namespace

std::string_view name(Invariance column) { return kNames[static_cast<std::size_t>(column)]; }

std::string_view name(InvarianceCell::State state) {
  constexpr std::string_view kStates[] = {"same", "near", "open", "differs", "not applicable"};
  return kStates[state];
}

std::string_view sign_of(InvarianceCell::State state) {
  constexpr std::string_view kSigns[] = {"✓", "≈", "○", "✗", "-"};
  return kSigns[state];
}

bool InvarianceRow::differs() const {
  return std::any_of(cells.begin(), cells.end(), [](const InvarianceCell& cell) {
    return cell.state == InvarianceCell::differs;
  });
}

InvarianceRow check_invariance(const Kernel& kernel, const Case& c) {
  return Check(kernel, c).run();
}

}  // namespace opbench
