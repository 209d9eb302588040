#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "harness/report/compare_page.h"

namespace opbench::report {
namespace {

using Row = TensorRow;

Cell text(std::string_view value) { return value.empty() ? Cell() : Cell(std::string(value)); }

Cell path_of(const DumpEntry* entry) { return entry == nullptr ? Cell() : Cell(entry->path); }

Cell dtype_of(const DumpEntry* entry) {
  return entry == nullptr ? Cell() : text(name(entry->desc.dtype));
}

Cell stored_of(const DumpEntry* entry) {
  return entry == nullptr ? Cell() : text(entry->stored_name);
}

Cell shape_of(const DumpEntry* entry) {
  if (entry == nullptr) return {};
  return fmt::format("[{}]", fmt::join(entry->desc.shape, ","));
}

const PairStats& stats(const Row& row) { return row.tensor.stats; }

// Empty if the pair was not measured.
Cell measured(const Row& row, Cell value) {
  return row.tensor.is_measured ? std::move(value) : Cell();
}

Cell infs(const Row& row, const ValueCounts& values) {
  return measured(row, values.positive_inf + values.negative_inf);
}

Cell place(const Row& row, std::int64_t index) {
  if (!row.tensor.is_measured || index < 0) return {};
  return index_text(row.tensor.entry().desc.shape, index);
}

// Empty if all elements are equal.
Cell at(const Row& row, const WorstElement& worst, double value) {
  return measured(row, worst.index < 0 ? Cell() : Cell(value));
}

// Text, since JSON has no NaN and no Inf.
Cell mismatch(const Row& row, double value) {
  return measured(row, stats(row).first_mismatch < 0 ? Cell() : Cell(value_text(value)));
}

// For the absolute standard, an absolute error: the number must be of the standard's kind.
Cell min_tolerance(const Row& row) {
  const bool is_absolute =
      row.tensor.standard->kind == StandardKind::absolute && stats(row).nonfinite_mismatches() == 0;
  return measured(row, is_absolute ? stats(row).worst_abs.error : stats(row).tolerance_of_all());
}

Cell ratio(const Row& row, double CrossCheck::*member) {
  return row.tensor.cross_check ? Cell((*row.tensor.cross_check).*member) : Cell();
}

const std::array kFields = std::to_array<TensorField>({
    {"execution", [](const Row& r) -> Cell { return r.execution; }},
    {"operator", [](const Row& r) { return text(r.op.op()); }},
    {"seq", [](const Row& r) { return text(r.op.seq()); }},
    {"side", [](const Row& r) { return text(name(r.tensor.entry().side)); }},
    {"tensor", [](const Row& r) { return text(r.tensor.entry().name); }},
    {"verdict", [](const Row& r) { return text(name(r.tensor.judgement.verdict)); }},
    {"reason", [](const Row& r) { return text(r.tensor.judgement.reason); }},
    {"origin", [](const Row& r) { return text(name(r.op.origin)); }},
    {"standard", [](const Row& r) { return text(name(r.tensor.standard->kind)); }},
    {"formula",
     [](const Row& r) { return measured(r, formula(r.tensor.standard, stats(r).scale)); }},
    {"scale", [](const Row& r) { return measured(r, stats(r).scale); }},
    {"min_tolerance", min_tolerance},
    {"match", [](const Row& r) { return text(r.op.note); }},
    {"actual_path", [](const Row& r) { return path_of(r.tensor.match.actual); }},
    {"expected_path", [](const Row& r) { return path_of(r.tensor.match.expected); }},
    {"actual_dtype", [](const Row& r) { return dtype_of(r.tensor.match.actual); }},
    {"expected_dtype", [](const Row& r) { return dtype_of(r.tensor.match.expected); }},
    {"actual_stored", [](const Row& r) { return stored_of(r.tensor.match.actual); }},
    {"expected_stored", [](const Row& r) { return stored_of(r.tensor.match.expected); }},
    {"actual_shape", [](const Row& r) { return shape_of(r.tensor.match.actual); }},
    {"expected_shape", [](const Row& r) { return shape_of(r.tensor.match.expected); }},
    {"elements", [](const Row& r) { return measured(r, stats(r).count); }},
    {"unequal", [](const Row& r) { return measured(r, stats(r).unequal); }},
    {"inside_share", [](const Row& r) { return measured(r, stats(r).inside_share()); }},
    {"beyond_limit", [](const Row& r) { return measured(r, stats(r).beyond_limit); }},
    {"nan_mismatches", [](const Row& r) { return measured(r, stats(r).nan_mismatches); }},
    {"inf_mismatches", [](const Row& r) { return measured(r, stats(r).inf_mismatches); }},
    {"mismatch_index", [](const Row& r) { return place(r, stats(r).first_mismatch); }},
    {"mismatch_actual", [](const Row& r) { return mismatch(r, stats(r).mismatch_actual); }},
    {"mismatch_expected", [](const Row& r) { return mismatch(r, stats(r).mismatch_expected); }},
    {"actual_nan", [](const Row& r) { return measured(r, stats(r).actual.nan); }},
    {"actual_inf", [](const Row& r) { return infs(r, stats(r).actual); }},
    {"actual_zero", [](const Row& r) { return measured(r, stats(r).actual.zero); }},
    {"actual_min", [](const Row& r) { return measured(r, stats(r).actual.min); }},
    {"actual_max", [](const Row& r) { return measured(r, stats(r).actual.max); }},
    {"expected_nan", [](const Row& r) { return measured(r, stats(r).expected.nan); }},
    {"expected_inf", [](const Row& r) { return infs(r, stats(r).expected); }},
    {"expected_zero", [](const Row& r) { return measured(r, stats(r).expected.zero); }},
    {"expected_min", [](const Row& r) { return measured(r, stats(r).expected.min); }},
    {"expected_max", [](const Row& r) { return measured(r, stats(r).expected.max); }},
    {"max_abs", [](const Row& r) { return measured(r, stats(r).worst_abs.error); }},
    {"max_abs_index", [](const Row& r) { return place(r, stats(r).worst_abs.index); }},
    {"max_abs_actual",
     [](const Row& r) { return at(r, stats(r).worst_abs, stats(r).worst_abs.actual); }},
    {"max_abs_expected",
     [](const Row& r) { return at(r, stats(r).worst_abs, stats(r).worst_abs.expected); }},
    {"max_rel", [](const Row& r) { return measured(r, stats(r).worst_rel.error); }},
    {"max_rel_index", [](const Row& r) { return place(r, stats(r).worst_rel.index); }},
    {"max_rel_actual",
     [](const Row& r) { return at(r, stats(r).worst_rel, stats(r).worst_rel.actual); }},
    {"max_rel_expected",
     [](const Row& r) { return at(r, stats(r).worst_rel, stats(r).worst_rel.expected); }},
    {"mean_abs", [](const Row& r) { return measured(r, stats(r).mean_abs()); }},
    {"mean_rel", [](const Row& r) { return measured(r, stats(r).mean_rel()); }},
    {"rmse", [](const Row& r) { return measured(r, stats(r).rmse()); }},
    {"relative_error", [](const Row& r) { return measured(r, r.tensor.relative_error()); }},
    {"cosine", [](const Row& r) { return measured(r, stats(r).cosine()); }},
    {"max_ulp", [](const Row& r) { return measured(r, stats(r).max_ulp); }},
    {"mean_ulp", [](const Row& r) { return measured(r, stats(r).mean_ulp()); }},
    {"cross_check_mare", [](const Row& r) { return ratio(r, &CrossCheck::mare); }},
    {"cross_check_mere", [](const Row& r) { return ratio(r, &CrossCheck::mere); }},
    {"cross_check_rmse", [](const Row& r) { return ratio(r, &CrossCheck::rmse); }},
});

}  // namespace

std::span<const TensorField> tensor_fields() { return kFields; }

}  // namespace opbench::report
