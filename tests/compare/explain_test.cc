#include "compare/explain.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "dump/dump_writer.h"
#include "tensor/error.h"
#include "tests/support/program.h"

namespace opbench {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Floats = std::vector<float>;

const TensorDesc kVector = describe(DType::fp32, {4});

Floats relu_of(Floats x) {
  for (float& value : x) value = std::fmax(value, 0.0F);
  return x;
}

class Explained : public testing::Test, protected TempDir {
 protected:
  // Writes one record of an operator with one input.
  void write(const std::string& name, DeviceType device, const std::string& op, const Floats& x,
             const Floats& y) const {
    DumpWriter writer(path(name));
    add(writer, device, op, x, y);
    writer.finish();
  }

  static void add(DumpWriter& writer, DeviceType device, const std::string& op, const Floats& x,
                  const Floats& y) {
    writer.begin_record(op, device);
    writer.write_input("self", kVector, x.data());
    writer.write_output("result", kVector, y.data());
  }

  Outcome compare(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args = {"compare", "-q",        path("npu.h5"), path("gpu.h5"),
                                     "-o",      path("out"), "--overwrite"};
    args.insert(args.end(), more.begin(), more.end());
    return opbench_with(args);
  }

  json report() const {
    std::ifstream file(path("out/compare.json"));
    return json::parse(file);
  }

  json first_operator() const { return report().at("operators").at(0); }
};

const Floats kX = {-1, 2, -3, 4};

TEST_F(Explained, TheDumpThatIsWrongForItsInputsIsNamed) {
  write("npu.h5", DeviceType::npu, "relu", kX, {0, 2, 1, 4});
  write("gpu.h5", DeviceType::cuda, "relu", kX, relu_of(kX));
  EXPECT_THAT(compare({"--fail-on", "introduced"}).out,
              HasSubstr("Introduced at relu, call 1\n"
                        "  by npu.h5: wrong for its own inputs; gpu.h5 is right for its\n"));
  const json op = first_operator();
  EXPECT_EQ(op.at("origin"), "introduced");
  EXPECT_EQ(op.at("introduced_by"), "actual");
  EXPECT_EQ(op.at("actual_ruling"), "GUILTY");
  EXPECT_EQ(op.at("expected_ruling"), "OK");
  EXPECT_EQ(report().at("first_introduced").at("operator"), "relu");
}

TEST_F(Explained, ItMayBeTheOther) {
  write("npu.h5", DeviceType::npu, "relu", kX, relu_of(kX));
  write("gpu.h5", DeviceType::cuda, "relu", kX, {0, 2, 1, 4});
  EXPECT_EQ(compare({"--fail-on", "introduced"}).code, kVerdictFailed);
  EXPECT_EQ(first_operator().at("introduced_by"), "expected");
  write("npu.h5", DeviceType::npu, "relu", kX, {0, 0, 0, 4});
  EXPECT_THAT(compare().out,
              HasSubstr("by both npu.h5 and gpu.h5: each is wrong for its own inputs\n"));
  EXPECT_EQ(first_operator().at("introduced_by"), "both");
}

// A correct operator passes on the error of its input.
TEST_F(Explained, RightForOtherInputsIsInherited) {
  const Floats other = {-1, 3, -3, 4};
  write("npu.h5", DeviceType::npu, "relu", other, relu_of(other));
  write("gpu.h5", DeviceType::cuda, "relu", kX, relu_of(kX));
  const Outcome outcome = compare({"--fail-on", "introduced"});
  EXPECT_EQ(outcome.code, kAllWell);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\nNo operator is wrong for its inputs.\n"),
                                 HasSubstr("inherited: both are right for their own inputs, which "
                                           "differ\n")));
  EXPECT_EQ(compare().code, kVerdictFailed) << "the tensors are not alike";
}

// 2^-26 rounds to 0 in fp16.
TEST_F(Explained, ArithmeticThatADeviceHasIsRounding) {
  const auto product = [&](const std::string& name, DeviceType device, float y) {
    const TensorDesc row = describe(DType::fp32, {1, 2}), column = describe(DType::fp32, {2, 1});
    const Floats a = {0x1p-26F, 0}, b = {1024, 1};
    DumpWriter writer(path(name));
    writer.begin_record("mm", device);
    writer.write_input("self", row, a.data());
    writer.write_input("mat2", column, b.data());
    writer.write_output("result", describe(DType::fp32, {1, 1}), &y);
    writer.finish();
  };
  product("npu.h5", DeviceType::npu, 0);
  product("gpu.h5", DeviceType::cuda, 0x1p-16F);
  EXPECT_THAT(compare().out, HasSubstr("rounding: both are right for the same inputs (npu.h5: fp16 "
                                       "operands)\n"));
  product("npu.h5", DeviceType::cpu, 0);
  compare();
  EXPECT_EQ(first_operator().at("origin"), "introduced") << "a CPU has no fp16 operands";
}

TEST_F(Explained, WhatNoTableKnowsIsUnknown) {
  write("npu.h5", DeviceType::npu, "my_relu", kX, {0, 2, 1, 4});
  write("gpu.h5", DeviceType::cuda, "my_relu", kX, relu_of(kX));
  EXPECT_THAT(compare({"--fail-on", "introduced"}).out,
              AllOf(HasSubstr("\nNo operator that was recomputed is wrong for its inputs.\n"),
                    HasSubstr("Of 1 of 1 operators that fail (100 %) the origin is unknown, first "
                              "my_relu, call\n1: not recomputed: no operator of that name is "
                              "known; its inputs agree\n")));
  std::ofstream(path("map.yaml"))
      << "operators:\n"
         "  - {names: my_relu, op: relu, inputs: self, outputs: result}\n";
  EXPECT_EQ(compare({"--map", path("map.yaml"), "--fail-on", "introduced"}).code, kVerdictFailed);
  EXPECT_EQ(first_operator().at("introduced_by"), "actual");
}

// The actual dump has outputs only. Its operators ran on the expected dump's inputs.
TEST_F(Explained, LoadModeTakesTheInputsOfTheOther) {
  const auto write_loaded = [&](const Floats& y) {
    DumpWriter writer(path("npu.h5"));
    writer.begin_record("relu", DeviceType::npu);
    writer.write_output("result", kVector, y.data());
    writer.finish();
  };
  write("gpu.h5", DeviceType::cuda, "relu", kX, {0, 2, 1, 4});
  write_loaded(relu_of(kX));
  compare();
  EXPECT_EQ(report().at("load_mode"), true);
  EXPECT_EQ(first_operator().at("introduced_by"), "expected");
  write_loaded({0, 2, 0, 5});
  compare();
  EXPECT_EQ(first_operator().at("introduced_by"), "both");
}

// The standard requires 99%, so 1 of 200 elements may be wrong.
TEST_F(Explained, FewWrongElementsOfATensorThatPassesAreSeen) {
  const TensorDesc desc = describe(DType::fp32, {200});
  Floats x(200);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + 0.01F * static_cast<float>(i);
  for (const char* name : {"npu.h5", "gpu.h5"}) {
    Floats y = x;
    if (std::string(name) == "npu.h5") y[7] += 0.01F;
    DumpWriter writer(path(name));
    writer.begin_record("relu", DeviceType::cuda);
    writer.write_input("self", desc, x.data());
    writer.write_output("result", desc, y.data());
    writer.finish();
  }
  EXPECT_EQ(compare({"--explain", "none"}).code, kAllWell);
  EXPECT_EQ(compare({"--fail-on", "introduced"}).code, kVerdictFailed);
  EXPECT_EQ(first_operator().at("introduced_by"), "actual");
}

// An error of 0.05 at 1000 passes. It fails after 1000 is subtracted.
TEST_F(Explained, AnErrorMayEnterInsideTheTolerances) {
  const Floats x = {1000, 1001, 1002, 1003}, thousand(4, 1000.0F);
  for (const char* name : {"npu.h5", "gpu.h5"}) {
    Floats y = x, rest(4);
    if (std::string(name) == "npu.h5") y[0] += 0.05F;
    for (std::size_t i = 0; i < 4; ++i) rest[i] = y[i] - thousand[i];
    DumpWriter writer(path(name));
    add(writer, DeviceType::cuda, "relu", x, y);
    writer.begin_record("sub_Tensor", DeviceType::cuda);
    writer.write_input("self", kVector, y.data());
    writer.write_input("other", kVector, thousand.data());
    writer.write_output("result", kVector, rest.data());
    writer.finish();
  }
  compare();
  const json operators = report().at("operators");
  EXPECT_EQ(operators.at(0).at("introduced_by"), "actual");
  EXPECT_EQ(operators.at(1).at("origin"), "inherited");
  EXPECT_EQ(report().at("first_introduced").at("operator"), "relu");
}

// An error within the standard of the pair is still found.
TEST_F(Explained, AllFindsWhatPasses) {
  write("npu.h5", DeviceType::npu, "relu", kX, {0, 2, 0, 4.0001F});
  write("gpu.h5", DeviceType::cuda, "relu", kX, relu_of(kX));
  EXPECT_EQ(compare({"--standard", "prec=0.01"}).code, kAllWell);
  EXPECT_EQ(first_operator().at("actual_ruling"), nullptr) << "nothing fails";
  EXPECT_EQ(compare({"--standard", "prec=0.01", "--explain", "all"}).code, kVerdictFailed);
  EXPECT_EQ(first_operator().at("introduced_by"), "actual");
}

TEST_F(Explained, NoneRecomputesNothing) {
  write("npu.h5", DeviceType::npu, "relu", kX, {0, 2, 1, 4});
  write("gpu.h5", DeviceType::cuda, "relu", kX, relu_of(kX));
  EXPECT_THAT(compare({"--explain", "none"}).out,
              AllOf(HasSubstr("First beyond its tolerance: relu, call 1\n"
                              "  origin unknown: its inputs agree\n"),
                    Not(HasSubstr("wrong for its"))));
  EXPECT_THAT(compare({"--explain", "none", "--fail-on", "introduced"}).err,
              HasSubstr("--fail-on introduced needs --explain failing or all"));
  EXPECT_EQ(parse_explain("all"), Explain::all);
  EXPECT_THROW(parse_explain("some"), Error);
}

// A recorded mask decides every element: 2 x if it is 1, else 0.
TEST_F(Explained, ADropoutIsJudgedByItsMask) {
  const auto dropout = [&](const std::string& name, const Floats& y, bool has_mask) {
    const std::vector<std::uint8_t> mask = {1, 0, 1, 0};
    DumpWriter writer(path(name));
    writer.begin_record("native_dropout", DeviceType::cuda);
    writer.write_input("input", kVector, kX.data());
    writer.write_input_scalar("p", 0.5);
    writer.write_output("result0", kVector, y.data());
    if (has_mask) writer.write_output("result1", describe(DType::boolean, {4}), mask.data());
    writer.finish();
  };
  dropout("npu.h5", {-2, 0, -6, 1}, true);
  dropout("gpu.h5", {-2, 0, -6, 0}, true);
  compare();
  EXPECT_EQ(first_operator().at("introduced_by"), "actual");
  dropout("npu.h5", {0, 4, 0, 8}, false);
  dropout("gpu.h5", {-2, 0, -6, 0}, false);
  EXPECT_THAT(compare({"--fail-on", "first"}).out, HasSubstr("it draws random numbers"));
  EXPECT_EQ(report().at("first_departure"), nullptr);
}

}  // namespace
}  // namespace opbench
