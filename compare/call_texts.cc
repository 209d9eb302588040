#include "compare/call_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compare/witness_elements.h"
#include "judge/hidden_faults.h"
#include "opbench_call_py.h"
#include "opbench_call_test.h"
#include "opbench_leaning_test.h"
#include "ops/torch_expression.h"
#include "tensor/error.h"
#include "text/filled.h"

namespace opbench {
namespace {

std::string python_inputs(const Witness& witness) {
  std::string text;
  for (std::size_t i = 0; i < witness.loaded.inputs.size(); ++i) {
    const Tensor& input = witness.loaded.inputs[i];
    text += fmt::format("    (\"{}\", \"{}\", {}, [{}]),\n", witness.problem().op->input_name(i),
                        torch_name(input.desc.dtype), shape_text(input.desc.shape),
                        number_list(element_texts(input), "        "));
  }
  return text;
}

/// Rounding of fp16 and bf16 results.
struct Rounding {
  int digits;
  double least_normal;
};

Rounding rounding_of(DType dtype) {
  return dtype == DType::fp16 ? Rounding{10, 0x1p-14} : Rounding{7, 0x1p-126};
}

std::string python_leaning(const Witness& witness) {
  if (!witness.finding.is_leaning) return "None";
  const Rounding rounding = rounding_of(witness.recorded().desc.dtype);
  return fmt::format("({}, {}, {}, {}, {})", rounding.digits, rounding.least_normal, kLeaning,
                     kOneSided, kFewestRounded);
}

std::string expected_is(const Witness& witness) {
  if (is_exact(witness.problem())) return "exact";
  return witness.finding.is_leaning ? "in fp64" : "in fp64, then rounded to the dtype";
}

// Texts that both files share.
TextFields fields_of(const WitnessOrigin& origin, const Witness& witness) {
  const OutputFinding& finding = witness.finding;
  const TensorDesc& output = witness.recorded().desc;
  return {{"HEADLINE", headline(origin, witness)},
          {"BOUND", bound_text(witness)},
          {"OP", std::string(witness.problem().op->name)},
          {"DTYPE", torch_name(output.dtype)},
          {"SHAPE", shape_text(output.shape)},
          {"EXPECTED_IS", expected_is(witness)},
          {"ALLOWED", fmt::format("{}", finding.allowed)},
          {"SHARE", fmt::format("{}", finding.allowed_share)}};
}

bool is_exact(const Witness& witness) {
  return bound_of(witness.problem(), witness.finding, witness.output).is_exact;
}

// Numbers in the notation of C++.
std::vector<std::string> cpp_numbers(std::vector<std::string> texts) {
  for (std::string& text : texts) {
    if (text == "nan") text = "NaN";
    if (text == "-9223372036854775808") text = "INT64_MIN";
  }
  return texts;
}

std::string_view cpp_type(DType dtype) { return is_floating(dtype) ? "double" : "std::int64_t"; }

std::string cpp_inputs(const Witness& witness) {
  std::string text;
  for (std::size_t i = 0; i < witness.loaded.inputs.size(); ++i) {
    const Tensor& input = witness.loaded.inputs[i];
    text +=
        fmt::format("[[maybe_unused]] const std::vector<{}> input_{} = {{  // {} {}\n    {}}};\n",
                    cpp_type(input.desc.dtype), witness.problem().op->input_name(i),
                    torch_name(input.desc.dtype), shape_text(input.desc.shape),
                    number_list(cpp_numbers(element_texts(input)), "    "));
  }
  return text;
}

std::string cpp_attrs(const Attrs& attrs) {
  std::vector<std::string> all;
  for (const auto& [name, value] : attrs.values()) {
    all.push_back(fmt::format("{}={}", name, to_string(value)));
  }
  return all.empty() ? "none" : fmt::format("{}", fmt::join(all, ", "));
}

std::string cpp_leaning(const Witness& witness) {
  if (!witness.finding.is_leaning) return {};
  const Rounding rounding = rounding_of(witness.recorded().desc.dtype);
  return filled(kLeaningTest, {{"LEAST_NORMAL", fmt::format("{}", rounding.least_normal)},
                               {"DIGITS", std::to_string(rounding.digits)},
                               {"FEWEST", std::to_string(kFewestRounded)},
                               {"MEAN", fmt::format("{}", kLeaning)},
                               {"ONE_SIDED", fmt::format("{}", kOneSided)}});
}

// Empty if torch has no plain call.
std::string python_call(const Op& op) {
  const std::string expression = torch_expression(op);
  if (expression.empty()) return "\ncall = None\n";
  return fmt::format("\n\ndef call(x, a):\n    return {}\n", expression);
}

}  // namespace

std::string torch_script(const WitnessOrigin& origin, const Witness& witness) {
  TextFields fields = fields_of(origin, witness);
  fields.insert(fields.end(), {{"INPUTS", python_inputs(witness)},
                               {"ATTRS", python_attrs(witness.problem().attrs)},
                               {"OUTPUT", std::to_string(witness.output)},
                               {"EXPECTED", number_list(expected_texts(witness), "    ")},
                               {"RECORDED", number_list(element_texts(witness.recorded()), "    ")},
                               {"IS_EXACT", is_exact(witness) ? "True" : "False"},
                               {"LEANING", python_leaning(witness)},
                               {"CALL", python_call(*witness.problem().op)}});
  return filled(kCallPy, fields);
}

std::string googletest_file(const WitnessOrigin& origin, const Witness& witness) {
  TextFields fields = fields_of(origin, witness);
  fields.insert(fields.end(),
                {{"INPUTS", cpp_inputs(witness)},
                 {"ATTRS", cpp_attrs(witness.problem().attrs)},
                 {"VALUE", std::string(cpp_type(witness.recorded().desc.dtype))},
                 {"EXPECTED", number_list(cpp_numbers(expected_texts(witness)), "    ")},
                 {"RECORDED", number_list(cpp_numbers(element_texts(witness.recorded())), "    ")},
                 {"IS_EXACT", is_exact(witness) ? "true" : "false"},
                 {"LEANING", cpp_leaning(witness)}});
  return filled(kCallTest, fields);
}

}  // namespace opbench
