#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/analysis.h"
#include "compare/comparison.h"
#include "harness/report/compare.h"
#include "harness/run/record.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench::report {

/// A tensor of a comparison with its place.
struct TensorRow {
  std::int64_t execution;  ///< place of its operator in order of execution, from 0
  const OperatorResult& op;
  const TensorResult& tensor;
};

/// A column of compare.csv and a key of compare.json.
struct TensorField {
  std::string_view name;
  Cell (*value)(const TensorRow& row);
};

/// All columns with one value; warnings and histogram follow them.
std::span<const TensorField> tensor_fields();

inline constexpr std::size_t kComparisonWidth = 80;

/// The report of a comparison on the console.
struct ReportPage {
  std::ostream& out;
  const ConsoleStyle& style;

  /// The first word of a report, and the text after it.
  void verdict(std::string_view word, std::string_view colour, std::string_view rest) const {
    out << coloured(word, colour, style)
        << wrapped(printable(rest), kComparisonWidth, 0, word.size()) << '\n';
  }
  /// A paragraph; its lines begin with `indent` spaces.
  void paragraph(std::string_view text, std::size_t indent = 0) const { say(out, text, indent); }
  void heading(std::string_view text) const {
    out << '\n' << coloured(wrapped(printable(text), kComparisonWidth, 0), kBold, style) << '\n';
  }
  /// Prints the first `most` of `all`, each by `print(i)`, and the number of further ones.
  template <class Print>
  void list(std::size_t all, std::size_t most, Print print, std::string_view what = {}) const {
    for (std::size_t i = 0; i < std::min(all, most); ++i) print(i);
    if (most >= all) return;
    paragraph(
        "and " + (what.empty() ? fmt::format("{} more", all - most) : counted(all - most, what)),
        2);
  }
};

/// The report of two dumps.
struct ComparisonPage : ReportPage {
  const Comparison& comparison;
  std::size_t top;
};

/// "PASSED", "NOTHING COMPARED".
std::string verdict_word(Verdict verdict);
std::string_view colour_of(Verdict verdict);
/// The last line of a report: "2 tensors compared: 1 passed, ...".
std::string counts_text(const ComparisonCounts& counts, bool is_partial);

/// Prints the symptoms of failing tensors, a sentence each. A symptom of several tensors is at the
/// first of them, with the names of the others.
void print_shared_causes(const ComparisonPage& page,
                         const std::vector<const OperatorResult*>& operators, std::size_t which,
                         std::size_t indent);
/// "ReluBackward0, call 7".
std::string label(const OperatorResult& op);
/// "2.1e-04", "0", or "-" without an error.
std::string error_text(const std::optional<double>& error);
/// "output result: 98.1% inside tolerance, ...".
std::string tensor_text(const TensorResult& tensor);

/// Prints the most important results: the operator that introduces an error, or that no operator
/// does; the first operator beyond its tolerance; the number of operators with unknown origin.
void print_headline(const ComparisonPage& page, const ComparisonCounts& counts);

}  // namespace opbench::report
