#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compare/judge_dump.h"
#include "tests/compare/comparison_support.h"

namespace opbench::report_tests {

using compare_tests::compare;
using compare_tests::HandMade;
using compare_tests::kTrue;

/// Marks an operator as wrong in npu.h5 only, as recomputing would find it.
inline void introduce(OperatorResult& op) {
  JudgedRecord wrong, right;
  wrong.ruling = Ruling::guilty;
  wrong.findings.push_back({});
  OutputFinding& finding = wrong.findings.back();
  finding.path = op.tensors.back().entry().path;
  finding.is_wrong = true;
  finding.reason = "1 of 3 elements off";
  right.ruling = Ruling::ok;
  op.actual_judged = std::make_shared<const JudgedRecord>(wrong);
  op.expected_judged = std::make_shared<const JudgedRecord>(right);
  op.origin = Origin::introduced;
  op.explanation = "by npu.h5: wrong for its own inputs; gpu.h5 is right for its";
}

/// One operator introduces an error, one inherits it, and one exists on one side only.
inline HandMade failing() {
  HandMade sample = compare(
      {{"Relu", "1", {{"input/x", kTrue, kTrue}, {"output/y", kTrue, kTrue}}},
       {"Softplus", "2", {{"input/x", kTrue, kTrue}, {"output/y", {3, 4, 0.5f}, kTrue}}},
       {"Mul", "3", {{"input/x", {3, 4, 0.5f}, kTrue}, {"output/y", {3, NAN, 0.5f}, kTrue}}},
       {"Add", "4", {{"output/y", kTrue, {}}, {"output/z", {2, 2}, {2, 2}}}}});
  sample.comparison.command = "opbench compare npu.h5 gpu.h5";
  sample.comparison.options = {{"only", "."}};
  sample.comparison.is_explained = true;
  introduce(sample.comparison.operators[1]);
  sample.comparison.operators[2].origin = Origin::inherited;
  return sample;
}

/// Hostile names of any length and kind, and long reasons, paths, warnings and problems.
inline HandMade hostile() {
  const std::string longest(300, 'w');
  HandMade sample =
      compare({{"a,\"b\"\n=c",
                "1",
                {{"input/" + longest, kTrue, kTrue}, {"output/\033[2J", {9, 9, 9}, kTrue}}},
               {"=cmd|' /C calc'!A0", "2", {{"output/+1", {9, 9, 9}, kTrue}}},
               {"@" + longest,
                "123456789",
                {{"output/-2", {9, 9, 9}, kTrue}, {"output/\xff", kTrue, {}}}}});
  Comparison& comparison = sample.comparison;
  comparison.actual.path = "/a/" + longest + ".h5";
  comparison.actual.problems = {"/x/" + longest + ": external link", "/y: no dataset"};
  comparison.operators[0].tensors[0].warnings = {"shapes differ: " + longest, "=1"};
  return sample;
}

}  // namespace opbench::report_tests
