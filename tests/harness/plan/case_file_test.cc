#include <gmock/gmock.h>

#include "harness/plan/case_files.h"
#include "tensor/error.h"
#include "tests/support/refusal.h"
#include "tests/support/source_tree.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;

CaseFile parse(const std::string& text, const Symbols& set = {}) {
  return parse_case_file(text, "f.yaml", set);
}

std::string error_of(const std::string& text, const Symbols& set = {}) {
  return refusal_by([&] { parse(text, set); });
}

TEST(CaseFile, ReadsShapesWithSymbols) {
  const CaseFile file = parse(
      "shapes:\n"
      "  - [N, 64, H*2]\n"
      "  - {name: layer1, shape: [1], count: 6}\n"
      "symbols: {N: 32, H: 7}\n"
      "dtypes: [fp16, DT_FLOAT]\n"
      "formats: [NCHW, 5HD]\n",
      {{"N", 8}});
  ASSERT_EQ(file.shapes.size(), 2u);
  EXPECT_THAT(file.shapes[0].shape, ElementsAre(8, 64, 14));
  EXPECT_EQ(file.shapes[0].origin, "f.yaml:2");
  EXPECT_EQ(file.shapes[1].name, "layer1");
  EXPECT_EQ(file.shapes[1].count, 6);
  EXPECT_THAT(file.dtypes, ElementsAre(DType::fp16, DType::fp32));
  EXPECT_THAT(file.formats, ElementsAre(Format::NCHW, Format::NC1HWC0));
}

TEST(CaseFile, ExtentsMultiplyAndDivideFromLeftToRight) {
  const CaseFile file =
      parse("symbols: {N: 3, C: 10}\nshapes: [[N*C/2, C/2*N, 12/3/2, C/5/2*N]]\n");
  EXPECT_THAT(file.shapes[0].shape, ElementsAre(15, 15, 2, 3));
}

TEST(CaseFile, ReadsCases) {
  const CaseFile file = parse(
      "cases:\n"
      "  - name: act\n"
      "    op: softplus\n"
      "    inputs: [[2, 3]]\n"
      "    attrs: {beta: 2, threshold: 5}\n"
      "    variants: [native, softplus_v2]\n"
      "    data: {distribution: \"uniform(-1,1)\", seed: 7}\n"
      "    backward: true\n"
      "    count: 3\n"
      "    threshold: 7.5\n"
      "    dtypes: fp32\n");
  ASSERT_EQ(file.cases.size(), 1u);
  Case c = file.cases[0].base;
  EXPECT_EQ(c.name, "act");
  EXPECT_EQ(c.count, 3);
  EXPECT_DOUBLE_EQ(c.threshold.value(), 0.075);
  EXPECT_THAT(c.variants, ElementsAre("native", "softplus_v2"));
  EXPECT_EQ(case_id(c),
            "softplus[2x3,fp32,ND,beta=2,threshold=5,backward,data=uniform(-1,1),seed=7]");
  EXPECT_EQ(c.origin, "f.yaml:2");
}

TEST(CaseFile, EmptyIsEmpty) {
  EXPECT_TRUE(parse("").shapes.empty());
  EXPECT_TRUE(parse("# nothing\n").cases.empty());
}

/// A file and its error, with the line.
struct BadFile {
  const char* text;
  const char* message;
};

TEST(CaseFile, ErrorsNameFileLineAndWhatIsAllowed) {
  const BadFile kBad[] = {
      {"shapes: [[1, 2]\n", "f.yaml:1: the '[' of this line is not closed"},
      {"shapes:\n - [1]\nshape: 3\n",
       "f.yaml:3: unknown key 'shape' in the case file; did you mean 'shapes'?"},
      {"shapes:\n - [1]\nshapes:\n - [2]\n",
       "f.yaml:3: key 'shapes' of the case file occurs twice"},
      {"[1, 2]\n", "f.yaml:1: the case file is a list; it must be a mapping with the keys symbols"},
      {"shapes: 7\n", "f.yaml:1: shapes is '7'; it must be a list"},
      {"shapes:\n  - [1, two]\n", "f.yaml:2: 'two' is neither a whole number nor a symbol"},
      {"symbols: {N: 1}\nshapes:\n  - [M, 2]\n",
       "f.yaml:3: 'M' is neither a whole number nor a symbol"},
      {"shapes:\n  - [1, -2]\n", "f.yaml:2: extent -2 is negative"},
      {"shapes:\n  - [4294967296, 4294967296]\n", "f.yaml:2: "},
      {"symbols: {N: 9223372036854775807}\nshapes:\n  - [N*2]\n",
       "f.yaml:3: extent 'N*2' overflows"},
      {"symbols: {N: 3}\nshapes:\n  - [N/2]\n",
       "f.yaml:3: extent 'N/2' divides 3 by 2, which leaves 1"},
      {"symbols: {N: 0}\nshapes:\n  - [4/N]\n", "f.yaml:3: extent '4/N' divides by zero"},
      {"shapes:\n  - [4/]\n", "f.yaml:2: '' is neither a whole number nor a symbol"},
      {"symbols: {\"N*2\": 0}\n", "f.yaml:1: symbol 'N*2' must begin with a letter; letters"},
      {"shapes:\n  - [99999999999999999999]\n", "f.yaml:2: '99999999999999999999' is neither"},
      {"shapes:\n  - {name: a}\n", "f.yaml:2: the entry has no 'shape'"},
      {"shapes:\n  - {shape: [1], count: 0}\n",
       "f.yaml:2: count is '0'; it must be a whole number from 1"},
      {"cases:\n  - {op: relu, inputs: [[1]], threshold: 5%}\n",
       "f.yaml:2: threshold is '5%'; it must be a number from 0.1 to 1000"},
      {"symbols: {N: -1}\n", "f.yaml:1: symbol 'N' is '-1'; it must be a whole number from 0"},
      {"dtypes: [fp31]\n", "f.yaml:1: "},
      {"formats: [NCWH]\n", "f.yaml:1: "},
      {"cases:\n  - {inputs: [[1]]}\n", "f.yaml:2: the case has no 'op'"},
      {"cases:\n  - {op: relu}\n", "f.yaml:2: the case has no 'inputs'"},
      {"cases:\n  - op: rellu\n", "f.yaml:2: unknown operator 'rellu'; did you mean 'relu'?"},
      {"cases:\n  - op: relu\n    inputs: [[1]]\n    atrs: {}\n",
       "f.yaml:4: unknown key 'atrs' in a case; did you mean 'attrs'?"},
      {"cases:\n  - op: softplus\n    inputs: [[1]]\n    attrs: {beta: 0}\n",
       "f.yaml:4: attribute 'beta' is '0'"},
      {"cases:\n  - op: relu\n    inputs: [[1]]\n    backward: maybe\n",
       "f.yaml:4: backward is 'maybe'; it must be true or false"},
      {"cases:\n  - op: relu\n    inputs: [[1]]\n    data: {distribution: gauss}\n", "f.yaml:4: "},
      {"cases:\n  - op: relu\n    inputs: [[1]]\n    data: {seed: -3}\n",
       "f.yaml:4: seed is '-3'; it must be a whole number from 0 to 2^64-1"},
  };
  for (const BadFile& bad : kBad) {
    EXPECT_THAT(error_of(bad.text), HasSubstr(bad.message)) << bad.text;
    EXPECT_EQ(error_of(bad.text).find('\n'), std::string::npos) << "one line: " << bad.text;
  }
}

TEST(CaseFile, OverridesMustBeDeclared) {
  EXPECT_EQ(error_of("symbols: {N: 1}\n", {{"M", 2}}),
            "f.yaml: --set M=2: the file has no symbol 'M'; did you mean 'N'?");
}

TEST(CaseFile, DeepNestingIsRefused) {
  EXPECT_THAT(error_of("shapes: " + std::string(100000, '[')),
              HasSubstr("f.yaml:1: brackets are nested"));
}

TEST(CaseFile, MissingFileIsNamed) {
  EXPECT_THAT([] { load_case_file("no/such.yaml", {}); },
              testing::ThrowsMessage<Error>(HasSubstr("cannot read case file 'no/such.yaml'")));
}

// All shipped files load, and every operator has a case.
TEST(CaseFile, ShippedFilesLoad) {
  const CaseFile resnet = load_case_file(source_file("cases/resnet.yaml"), {{"N", 2}});
  EXPECT_EQ(resnet.shapes.size(), 12u);
  int activations = 0;
  for (const NamedShape& shape : resnet.shapes) activations += shape.count;
  EXPECT_EQ(activations, 49) << "ResNet-50 has 1 + 16 * 3 activations";
  const CaseFile prof = load_case_file(source_file("cases/softplus_prof.yaml"), {});
  EXPECT_EQ(prof.shapes.size(), 9u);
  EXPECT_THAT(prof.shapes[0].shape, ElementsAre(128, 64, 128, 128));
  EXPECT_TRUE(prof.cases[8].base.backward);
}

}  // namespace opbench
