#include <fmt/format.h>
#include <gmock/gmock.h>

#include "harness/plan/case_files.h"
#include "tensor/error.h"
#include "tests/support/refusal.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string context_error_of(const std::string& text, const ContextLimits& limits = {}) {
  return refusal_by([&] { parse_case_file(text, "f.yaml", {}, limits); });
}

/// The text after a file's first lines, and the beginning of its error, with the line.
struct BadEnd {
  const char* text;
  const char* message;
};

void expect_errors(const std::string& begin, const std::vector<BadEnd>& bad_ends) {
  for (const BadEnd& bad : bad_ends) {
    const std::string found = context_error_of(begin + bad.text);
    EXPECT_THAT(found, StartsWith(bad.message)) << begin << bad.text;
    EXPECT_EQ(found.find('\n'), std::string::npos) << "one line: " << found;
  }
}

TEST(ContextErrors, OfTheKeysOfAContext) {
  const std::string good =
      "contexts:\n"
      "  - inputs: {x: [2]}\n"
      "    nodes: [{op: relu, in: x, out: y}]\n"
      "    outputs: [y]\n";
  ASSERT_EQ(context_error_of(good + "    name: c\n"), "accepted");
  expect_errors(
      good,
      {
          {"", "f.yaml:2: the context has no 'name'"},
          {"    name: a/b\n",
           "f.yaml:5: the name of a context is 'a/b'; it must be of letters, digits, '_', '-' and"},
          {"    name: c\n    output: y\n",
           "f.yaml:6: unknown key 'output' in a context; did you mean 'outputs'?"},
          {"    name: c\n    loss: max\n", "f.yaml:6: loss is 'max'; allowed: sum, mean"},
          {"    name: c\n    dtypes: []\n", "f.yaml:2: the list of dtypes is empty"},
          {"    name: c\n    dtypes: fp31\n", "f.yaml:6: dtype 'fp31' is unknown"},
          {"    name: c\n    seed: -1\n",
           "f.yaml:6: seed is '-1'; it must be a whole number from 0"},
          {"    name: c\n    update: {rate: 1}\n", "f.yaml:6: update needs backward: true"},
          {"    name: c\n    backward: true\n    update: {}\n",
           "f.yaml:7: the update has no 'rate'"},
          {"    name: c\n    backward: true\n    update: {rate: nan}\n", "f.yaml:7: rate is 'nan'"},
          {"    name: c\n    samples: 0\n", "f.yaml:6: samples must be 1 or more"},
          {"    name: c\n    samples: M\n",
           "f.yaml:6: samples: 'M' is neither a whole number nor a symbol; the file declares none"},
          {"    name: c\n    standard: exact\n",
           "f.yaml:6: standard is 'exact'; allowed: mixed, cosine, cosine=X of 0 to 1, prec=X"},
          {"    name: c\n    standard: cosine=2\n", "f.yaml:6: standard is 'cosine=2'"},
          {"    name: c\n    standard: prec=nan\n", "f.yaml:6: standard is 'prec=nan'"},
          {"    name: c\n    variants: {rellu: native}\n",
           "f.yaml:6: unknown operator 'rellu'; did you mean 'relu'?"},
          {"    name: c\n    variants:\n      relu: [native,\n        nativ]\n",
           "f.yaml:8: relu has no variant 'nativ'; did you mean 'native'?"},
          {"    name: c\n    variants: {relu: []}\n",
           "f.yaml:6: the variants of relu are an empty list"},
          {"    name: c\n    rules: {indx: cached}\n",
           "f.yaml:6: unknown key 'indx' in rules; did you mean 'index'?"},
          {"    name: c\n    rules: {index: kept}\n",
           "f.yaml:6: index is 'kept'; allowed: generated, cached"},
          {"    name: c\n    rules: {grad_cast_once: 1}\n",
           "f.yaml:6: grad_cast_once is '1'; it must be true or false"},
          {"    name: c\n    precision: O3\n", "f.yaml:6: precision is 'O3'; did you mean 'O0'?"},
          {"    name: c\n    precision: {loss_scale: 0}\n", "f.yaml:6: loss_scale is '0'; it must"},
          {"    name: c\n    precision: {loss_scale: inf}\n", "f.yaml:6: loss_scale is 'inf'"},
          {"    name: c\n    precision: {initial_scale: 2}\n",
           "f.yaml:6: initial_scale needs loss_scale: dynamic"},
          {"    name: c\n  - name: c\n    inputs: {x: [2]}\n    nodes: [{op: relu, in: x, out: "
           "y}]\n"
           "    outputs: [y]\n",
           "f.yaml:6: context 'c' occurs twice, first at f.yaml:2"},
      });
}

TEST(ContextErrors, OfTensorsAndNodes) {
  expect_errors(
      "contexts:\n  - name: c\n",
      {
          {"", "f.yaml:2: the context has no 'nodes'"},
          {"    nodes: []\n", "f.yaml:2: the context has no 'nodes'"},
          {"    inputs: {x: [2]}\n    nodes: [{op: relu, in: x, out: y}]\n",
           "f.yaml:2: the context has no 'outputs'"},
          {"    inputs: {a b: [2]}\n", "f.yaml:3: the name of a tensor is 'a b'; it must be"},
          {"    inputs: [x]\n", "f.yaml:3: inputs is a list; it must be a mapping"},
          {"    inputs:\n      x: {dtype: fp16}\n", "f.yaml:4: tensor 'x' has no 'shape'"},
          {"    inputs:\n      x: {shape: 3}\n", "f.yaml:4: shape must be a list"},
      });
  const std::string good =
      "contexts:\n"
      "  - name: c\n"
      "    inputs: {input: [2]}\n"
      "    outputs: [y]\n"
      "    nodes:\n"
      "      - {op: relu, in: input, out: y}\n";
  ASSERT_EQ(context_error_of(good), "accepted");
  expect_errors(
      good,
      {
          {"      - {op: relu, in: y}\n", "f.yaml:7: the node has no 'out'"},
          {"      - {in: y, out: z}\n", "f.yaml:7: the node has neither 'op' nor 'include'"},
          {"      - {op: relu, include: b, in: y, out: z}\n",
           "f.yaml:7: the node has both 'op' and 'include'"},
          {"      - {op: relu, in: y, out: z, repeat: 2}\n",
           "f.yaml:7: 'with', 'repeat' and 'first' belong to a node with 'include'"},
          {"      - {op: rellu, in: y, out: z}\n",
           "f.yaml:7: unknown operator 'rellu'; did you mean 'relu'?"},
          {"      - {op: relu, in: [y, y], out: z}\n",
           "f.yaml:7: relu takes 1 input tensor, found 2"},
          {"      - {op: relu, in: y, out: [z, w]}\n", "f.yaml:7: relu has 1 output, found 2"},
          {"      - {op: relu, in: inptu, out: z}\n",
           "f.yaml:7: unknown tensor 'inptu'; did you mean 'input'?"},
          {"      - {op: relu, in: input, out: y}\n",
           "f.yaml:7: tensor 'y' is written twice, first at f.yaml:6"},
          {"      - {op: relu, in: y, out: input}\n",
           "f.yaml:7: tensor 'input' is written twice, first at f.yaml:3"},
          {"      - {name: a, op: relu, in: y, out: z}\n      - {name: a, op: relu, in: y, out: "
           "w}\n",
           "f.yaml:8: node name 'a' occurs twice, first at f.yaml:7"},
          {"      - {op: relu, in: y, out: z}\n",
           "f.yaml:7: node 'relu1' is not used: name its result in outputs or remove it"},
          {"      - {op: relu, in: y, out: _}\n", "f.yaml:7: node 'relu1' is not used"},
          {"      - {op: softplus, in: y, out: z, attrs: {\n          beta: x}}\n",
           "f.yaml:8: softplus: attribute 'beta' is 'x'; it must be a number of fp32"},
          {"      - {op: softplus, in: y, out: z, attrs: {bta: 1}}\n",
           "f.yaml:7: softplus: unknown attribute 'bta'; did you mean 'beta'?"},
          {"      - {op: contiguous, in: y, out: z, attrs: {view: \"slice(0,0,{\"}}\n",
           "f.yaml:7: contiguous: 'slice(0,0,{' has no '}' for its '{'"},
          {"      - {op: contiguous, in: y, out: z, attrs: {view: \"slice(0,0,{M})\"}}\n",
           "f.yaml:7: contiguous: 'M' is neither a whole number nor a symbol"},
          {"    parameters: {w: [1]}\n", "f.yaml:7: parameter 'w' is used by no node"},
          {"      - {op: relu, in: d, out: e, name: p}\n      - {op: relu, in: e, out: d, name: "
           "q}\n",
           "f.yaml:7: nodes depend on each other: p > q > p"},
          {"      - {op: relu, in: d, out: d, name: p}\n",
           "f.yaml:7: nodes depend on each other: p > p"},
          {"      - {op: relu, in: _, out: z}\n",
           "f.yaml:7: relu: input 'self' is not optional, so it cannot be '_'"},
          {"      - {op: relu, in: y, out: a b}\n", "f.yaml:7: the name of a tensor is 'a b'"},
      });
}

TEST(ContextErrors, OfOutputs) {
  const std::string begin =
      "contexts:\n"
      "  - name: c\n"
      "    inputs: {x: [2]}\n"
      "    nodes: [{op: relu, in: x, out: yes}]\n";
  expect_errors(begin, {
                           {"    outputs: [yess]\n",
                            "f.yaml:5: output 'yess' is written by no node; did you mean 'yes'?"},
                           {"    outputs: [yes, x]\n",
                            "f.yaml:5: output 'x' is given to the context, not written by"},
                           {"    outputs: [yes, yes]\n", "f.yaml:5: output 'yes' occurs twice"},
                       });
}

TEST(ContextErrors, OfShapes) {
  expect_errors(
      "symbols: {N: 3}\ncontexts:\n  - name: c\n    nodes: [{op: relu, in: x, out: y}]\n"
      "    outputs: y\n",
      {
          {"    inputs: {x: [M]}\n", "f.yaml:6: x: 'M' is neither a whole number nor"},
          {"    inputs: {x: [N/2]}\n", "f.yaml:6: x: extent 'N/2' divides 3 by 2"},
          {"    inputs: {x: [-1]}\n", "f.yaml:6: x: extent -1 is negative"},
          {"    inputs: {x: [4294967296, 4294967296]}\n", "f.yaml:6: x: "},
      });
}

TEST(ContextErrors, OfBlocks) {
  const std::string begin =
      "blocks:\n"
      "  unit:\n"
      "    symbols: [C, M]\n"
      "    inputs: [a]\n"
      "    nodes: [{op: softplus, in: a, out: b, attrs: {beta: C/M}}]\n"
      "    outputs: [b]\n"
      "  pass: {inputs: [a, b], nodes: [{op: relu, in: a, out: c}], outputs: [c, b]}\n"
      "  sink: {inputs: [a, b], nodes: [{op: add, in: [a, b], out: c}], outputs: [c]}\n"
      "contexts:\n"
      "  - name: c\n"
      "    inputs: {x: [2]}\n"
      "    outputs: [y]\n"
      "    nodes:\n";
  ASSERT_EQ(context_error_of(
                begin + "      - {include: unit, name: n, in: x, out: y, with: {C: 1, M: 1}}\n"),
            "accepted");
  expect_errors(
      begin,
      {
          {"      - {include: unti, name: n, in: x, out: y}\n",
           "f.yaml:14: unknown block 'unti'; did you mean 'unit'?"},
          {"      - {include: unit, in: x, out: y}\n",
           "f.yaml:14: the include of 'unit' has no 'name'"},
          {"      - {include: unit, name: n, in: x, out: y, attrs: {}}\n",
           "f.yaml:14: 'attrs' belongs to a node with 'op', not with 'include'"},
          {"      - {include: unit, name: n, in: [x, x], out: y}\n",
           "f.yaml:14: block 'unit' has 1 input, found 2"},
          {"      - {include: unit, name: n, in: x, out: [y, z]}\n",
           "f.yaml:14: block 'unit' has 1 output, found 2"},
          {"      - {include: unit, name: n, in: x, out: y, with: {C: 1}}\n",
           "f.yaml:14: block 'unit' needs a value for symbol 'M'; give it in 'with'"},
          {"      - {include: unit, name: n, in: x, out: y, with: {C: 1, Mm: 1}}\n",
           "f.yaml:14: block 'unit' has no symbol 'Mm'; did you mean"},
          {"      - {include: unit, name: n, in: x, out: y,\n         with: {C: K, M: 1}}\n",
           "f.yaml:15: symbol 'C': 'K' is neither a whole number nor a symbol"},
          // The error is in the line of the block.
          {"      - {include: unit, name: n, in: x, out: y, with: {C: 3, M: 2}}\n",
           "f.yaml:5: n.softplus: extent 'C/M' divides 3 by 2, which leaves 1"},
          {"      - {include: unit, name: n, in: x, out: y, with: {C: 1, M: 1}, repeat: 0}\n",
           "f.yaml:14: repeat is 0; it must be a whole number from 1 to 10000"},
          {"      - {include: unit, name: n, in: x, out: y, with: {C: 1, M: 1}, repeat: 10001}\n",
           "f.yaml:14: repeat is 10001"},
          {"      - {include: sink, name: n, in: [x, x], out: y, repeat: 2}\n",
           "f.yaml:14: block 'sink' has 2 inputs and 1 outputs; to be repeated, it needs as many"},
          {"      - {include: pass, name: n, in: [x, x], out: [_, y]}\n",
           "f.yaml:12: output 'x' is given to the context, not written by a node"},
          {"      - {include: pass, name: n, in: [x, z], out: [y, z]}\n",
           "f.yaml:14: tensor 'z' is defined only by itself"},
          {"      - {include: pass, name: n, in: [x, x], out: [_, z]}\n"
           "      - {op: relu, in: z, out: y}\n",
           "f.yaml:7: node 'n.relu' is not used: name its result in outputs or remove it"},
          {"      - {include: sink, name: n, in: [x, w], out: w}\n      - {op: relu, in: w, out: "
           "y}\n",
           "f.yaml:8: nodes depend on each other: n.add > n.add"},
          {"      - {include: unit, name: n, in: x, out: z, with: {C: 1, M: 1}}\n"
           "      - {op: relu, name: n.softplus, in: z, out: y}\n",
           "f.yaml:15: node name 'n.softplus' occurs twice, first at f.yaml:5"},
      });
}

TEST(ContextErrors, OfBlocksThatNobodyIncludes) {
  expect_errors(
      "blocks:\n",
      {
          {"  b: {inputs: [a], nodes: [], outputs: [a]}\n", "f.yaml:2: the block has no 'nodes'"},
          {"  b: {inputs: [a], node: []}\n", "f.yaml:2: unknown key 'node' in a block; did you"},
          {"  b:\n    inputs: [a, u]\n    nodes: [{op: relu, in: a, out: c}]\n    outputs: [c]\n",
           "f.yaml:3: input 'u' is used by no node"},
          {"  b:\n    symbols: [C, C]\n", "f.yaml:3: symbol 'C' occurs twice"},
          {"  b:\n    symbols: {1C: 2}\n", "f.yaml:3: symbol '1C' must begin with a letter"},
          {"  b:\n    inputs: [a]\n    outputs: [c]\n    nodes:\n"
           "      - {include: d, name: d, in: a, out: c}\n",
           "f.yaml:6: unknown block 'd'"},
      });
}

TEST(ContextErrors, OfSteps) {
  const std::string begin =
      "symbols: {N: 3}\n"
      "blocks:\n"
      "  one: {inputs: [a], nodes: [{op: relu, in: a, out: b}], outputs: [b]}\n"
      "  two: {inputs: [a, b], nodes: [{op: add, in: [a, b], out: c}], outputs: [c]}\n"
      "contexts:\n"
      "  - name: c\n"
      "    inputs: {x: [12/N]}\n"
      "    outputs: [y]\n"
      "    nodes: [{include: one, name: n, in: x, out: y}]\n"
      "    steps:\n";
  expect_errors(
      begin,
      {
          {"      []\n", "f.yaml:11: the list of steps is empty"},
          {"      - {summary: a}\n", "f.yaml:11: the step has no 'name'"},
          {"      - {name: a, afer: b}\n", "f.yaml:11: unknown key 'afer' in a step; did you mean"},
          {"      - {name: a}\n      - {name: a}\n",
           "f.yaml:12: step 'a' occurs twice, first at f.yaml:11"},
          {"      - {name: a, after: b}\n      - {name: b}\n",
           "f.yaml:11: no earlier step is called 'b'; no name is defined"},
          {"      - {name: first}\n      - {name: a, after: frst}\n",
           "f.yaml:12: no earlier step is called 'frst'; did you mean 'first'?"},
          {"      - {name: a, set: {M: 1}}\n",
           "f.yaml:11: the file has no symbol 'M'; did you mean 'N'?"},
          {"      - {name: a, set: {N: K}}\n", "f.yaml:11: 'K' is neither a whole number nor"},
          {"      - {name: a}\n      - {name: b, set: {N: 5}}\n",
           "f.yaml:7: x: extent '12/N' divides 12 by 5, which leaves 2 (in step 'b')"},
          {"      - {name: a, blocks: {one: tow}}\n",
           "f.yaml:11: unknown block 'tow'; did you mean 'two'?"},
          {"      - {name: a, blocks: {one: two}}\n",
           "f.yaml:11: block 'two' has 2 inputs and 1 outputs, but 'one', which it is to replace"},
          {"      - {name: a, not_applicable: \"\"}\n", "f.yaml:11: not_applicable must say why"},
          {"      - {name: a, variants: {relu: rellu}}\n",
           "f.yaml:11: relu has no variant 'rellu'; did you mean 'relu'?"},
      });
}

// Block b0 is a relu; b1 includes b0 `repeat` times, b2 includes b1, ...
std::string nested(int depth, const std::string& repeat, const std::string& innermost) {
  std::string text = "blocks:\n  b0: " + innermost + "\n";
  for (int i = 1; i <= depth; ++i) {
    text += fmt::format(
        "  b{}: {{inputs: a, nodes: [{{include: b{}, name: n, repeat: {}, in: a, out: b}}], "
        "outputs: b}}\n",
        i, i - 1, repeat);
  }
  return text + fmt::format(
                    "contexts:\n  - {{name: c, inputs: {{x: [2]}}, outputs: y, nodes: [{{include: "
                    "b{}, name: n, in: x, out: y}}]}}\n",
                    depth);
}

const std::string kReluBlock = "{inputs: a, nodes: [{op: relu, in: a, out: b}], outputs: b}";

TEST(ContextErrors, NothingUnrollsWithoutBounds) {
  EXPECT_EQ(context_error_of(nested(15, "1", kReluBlock)), "accepted");
  EXPECT_EQ(context_error_of(nested(16, "1", kReluBlock)),
            "f.yaml:3: blocks are nested more than 16 deep");
  EXPECT_EQ(context_error_of(nested(1, "10000", kReluBlock), {.nodes = 9999}),
            "f.yaml:2: the graph has more than 9999 nodes");
  EXPECT_EQ(context_error_of(nested(5, "10000", kReluBlock)),
            "f.yaml:2: the graph has more than 50000 nodes");
  // Every block ends in an operator, or includes itself.
  EXPECT_EQ(
      context_error_of(nested(5, "10000",
                              "{inputs: a, nodes: [{include: p, name: n, in: a, out: b}], outputs: "
                              "b}\n  p: {inputs: a, nodes: [{include: q, name: n, in: a, out: _}], "
                              "outputs: a}\n  q: {inputs: a, nodes: [{include: p, name: n, in: a, "
                              "out: b}], outputs: b}")),
      "f.yaml:4: block 'p' includes itself: b5 > b4 > b3 > b2 > b1 > b0 > p > q > p");
}

TEST(ContextErrors, ListsHaveBounds) {
  const auto repeated = [](const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += fmt::format(fmt::runtime(text), i);
    return result;
  };
  EXPECT_EQ(context_error_of("contexts:\n" + repeated("  - c{}\n", 1001)),
            "f.yaml:2: the file has more than 1000 contexts");
  EXPECT_EQ(context_error_of(
                "contexts:\n  - name: c\n    inputs: {x: [2]}\n    nodes: [{op: relu, in: x, "
                "out: y}]\n    outputs: y\n    steps:\n" +
                repeated("      - {{name: s{}}}\n", 1001)),
            "f.yaml:7: the context has more than 1000 steps");
  EXPECT_EQ(context_error_of("blocks:\n  b:\n    symbols:\n" + repeated("      - S{}\n", 101)),
            "f.yaml:4: the block has more than 100 symbols");
}

TEST(ContextErrors, ManyLargeStepsAreTooMuch) {
  std::string text =
      "symbols: {N: 1}\n"
      "blocks: {b: " +
      kReluBlock +
      "}\n"
      "contexts:\n"
      "  - name: c\n"
      "    inputs: {x: [N]}\n"
      "    outputs: y\n"
      "    nodes: [{include: b, name: n, repeat: 10000, in: x, out: y}]\n"
      "    steps:\n";
  for (int i = 0; i < 100; ++i)
    text += fmt::format("      - {{name: s{}, set: {{N: {}}}}}\n", i, i);
  EXPECT_THAT(context_error_of(text),
              HasSubstr("the contexts of the file, unrolled, take more than 256 MiB"));
}

}  // namespace
}  // namespace opbench
