// Dumps of contexts through the built program: their content, and the comparison of steps.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "dump/dump_file.h"
#include "tensor/processor.h"
#include "tests/cli/context_cli.h"

namespace opbench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// A record with its values, in order of execution.
struct Executed {
  std::string op, task, step, status, reason, kernel;
  std::vector<std::vector<float>> inputs, outputs;  // tensors only, by name
};

std::string note(const DumpRecord& record, const std::string& name) {
  for (const Note& note : record.notes) {
    if (note.name == name) return note.value;
  }
  return "";
}

std::vector<std::vector<float>> values(DumpFile& file, const DumpRecord& record, Side side) {
  std::vector<std::vector<float>> all;
  for (const DumpEntry* entry : record.on(side)) {
    if (entry->kind != EntryKind::tensor || entry->stored != StoredType::f32) continue;
    std::vector<float> read(static_cast<std::size_t>(entry->desc.elements()));
    file.read(*entry, {0, entry->desc.elements()}, read.data());
    all.push_back(std::move(read));
  }
  return all;
}

std::vector<Executed> executed(const std::string& path) {
  DumpFile file(path);
  std::vector<DumpRecord> records = file.records();
  std::sort(records.begin(), records.end(),
            [](const DumpRecord& a, const DumpRecord& b) { return a.seq < b.seq; });
  std::vector<Executed> all;
  for (const DumpRecord& record : records) {
    EXPECT_EQ(record.seq, std::ssize(all) + 1) << "one number after the other";
    all.push_back({record.op, note(record, "opbench_task"), note(record, "opbench_variant"),
                   note(record, "opbench_status"), note(record, "opbench_reason"),
                   note(record, "opbench_kernel"), values(file, record, Side::input),
                   values(file, record, Side::output)});
  }
  return all;
}

std::vector<std::string> column(const std::vector<Executed>& records,
                                std::string Executed::*field) {
  std::vector<std::string> texts;
  for (const Executed& record : records) texts.push_back(record.*field);
  return texts;
}

class ContextDump : public ContextCli {
 protected:
  Outcome dump(const std::string& text, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--cases", write("f.yaml", text), "--time", "0.002", "--repetitions",
                               "2", "--overwrite", "--dump", path("x.h5")});
    return run_program(std::move(more));
  }
  bool has_dump() const { return std::filesystem::exists(path("x.h5")); }
};

// y = x*w with the loss sum(y). grad_w is x, and the updated w is w - x/2.
constexpr const char* kTraining =
    "contexts:\n"
    "  - name: training\n"
    "    inputs: {x: [5]}\n"
    "    parameters: {w: [5]}\n"
    "    nodes: [{name: product, op: mul, in: [x, w], out: y}]\n"
    "    outputs: [y]\n"
    "    backward: true\n"
    "    update: {rate: 0.5}\n"
    "    steps: [{name: first}, {name: second}]\n";

TEST_F(ContextDump, HasForwardBackwardAndUpdateOfEveryStepInOrder) {
  const Outcome outcome = dump(kTraining);
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const std::vector<Executed> records = executed(path("x.h5"));
  ASSERT_EQ(records.size() % 2, 0u);
  const std::size_t tasks = records.size() / 2;
  EXPECT_EQ(records.front().task, "product");
  EXPECT_EQ(records[tasks - 1].task, "w.update");
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].step, i < tasks ? "first" : "second");
    EXPECT_EQ(records[i].task, records[i % tasks].task);
    EXPECT_EQ(records[i].inputs, records[i % tasks].inputs) << "both steps have the same values";
  }
  EXPECT_THAT(column(records, &Executed::status), Each("passed"));
  EXPECT_THAT(column(records, &Executed::reason), Each(""));
  const Executed& product = records.front();
  const Executed& update = records[tasks - 1];
  ASSERT_EQ(product.inputs.size(), 2u);
  ASSERT_EQ(update.outputs.size(), 1u);
  for (std::size_t i = 0; i < 5; ++i) {
    const float x = product.inputs[1][i], w = product.inputs[0][i];  // "other" is before "self"
    EXPECT_FLOAT_EQ(product.outputs[0][i], x * w);
    EXPECT_TRUE(update.outputs[0][i] == w - x / 2 || update.outputs[0][i] == x - w / 2);
  }
}

// tests/cli/recompute_context.py computes forward, backward, update and statistics in numpy from
// the inputs of the first tasks.
TEST_F(ContextDump, ATrainingStepIsRecomputedFromIt) {
  const Outcome outcome = dump(
      "contexts:\n"
      "  - name: small\n"
      "    inputs: {x: [2, 3, 6, 6]}\n"
      "    parameters: {weight: [4, 3, 3, 3], gamma: [4], beta: [4], mean: [4], var: [4]}\n"
      "    nodes:\n"
      "      - {name: conv, op: conv2d, in: [x, weight], out: c, attrs: {padding: 1}}\n"
      "      - {name: bn, op: batch_norm, in: [c, gamma, beta, mean, var], out: b}\n"
      "      - {name: relu, op: relu, in: b, out: y}\n"
      "    outputs: [y]\n"
      "    backward: true\n"
      "    update: {rate: 0.1}\n"
      "    steps:\n"
      "      - {name: framework, variants: {default: native}}\n"
      "      - {name: device, standard: cosine=0.999}\n");
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const std::string script =
      "/usr/bin/python3 " + source_file("tests/cli/recompute_context.py") + " " + path("x.h5");
  // Sums in fp32 have at most 72 terms. Operands rounded to fp16 add 2^-11 each.
  for (const char* step : {" framework 2e-6", " device 2e-3"}) {
    const Outcome recomputed = shell(script + step);
    EXPECT_EQ(recomputed.code, 0) << step << '\n' << recomputed.out << recomputed.err;
    EXPECT_THAT(recomputed.out, HasSubstr("running_var_out"));
  }
  EXPECT_EQ(shell(script + " device 1e-7").code, 1) << "a check that can fail";
}

// The memory of a, b and c is reused before the last task runs.
TEST_F(ContextDump, EveryTaskIsDumpedBeforeItsMemoryIsUsedAgain) {
  const Outcome outcome = dump(
      "contexts:\n"
      "  - name: chain\n"
      "    inputs: {x: [300]}\n"
      "    nodes:\n"
      "      - {name: n0, op: softplus, in: x, out: a}\n"
      "      - {name: n1, op: softplus, in: a, out: b}\n"
      "      - {name: n2, op: softplus, in: b, out: c}\n"
      "      - {name: n3, op: softplus, in: c, out: d}\n"
      "      - {name: n4, op: softplus, in: d, out: y}\n"
      "    outputs: [y]\n");
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const std::vector<Executed> records = executed(path("x.h5"));
  EXPECT_THAT(column(records, &Executed::task), ElementsAre("n0", "n1", "n2", "n3", "n4"));
  for (std::size_t i = 1; i < records.size(); ++i) {
    EXPECT_EQ(records[i].inputs.at(0), records[i - 1].outputs.at(0)) << i;
  }
  // softplus(x) = ln(1 + e^x).
  EXPECT_NEAR(records[0].outputs[0][7], std::log1p(std::exp(records[0].inputs[0][7])), 1e-5);
}

// The lines that msaccucmp lists: "operator seq tensors" for every record.
std::string listed(const std::string& path, const std::string& device) {
  DumpFile file(path);
  std::string lines;
  for (const DumpRecord& record : file.records()) {
    const auto tensors =
        std::count_if(record.entries.begin(), record.entries.end(),
                      [](const DumpEntry& entry) { return entry.kind == EntryKind::tensor; });
    EXPECT_GT(tensors, 0) << record.op;
    lines += fmt::format("{} {} {}\n", record.op, record.seq_text, tensors);
  }
  return lines + "device " + device + "\n";
}

Outcome walked(const std::string& path) {
  return shell("/usr/bin/python3 " + source_file("tests/cli/msaccucmp_walk.py") + " " + path);
}

// msaccucmp takes a group with attributes for a leaf and does not read below it.
TEST_F(ContextDump, TheOriginalToolSeesEveryTensor) {
  const Outcome variants =
      run_program({"--case", "softplus[2x3x4x5,fp16,NCHW,beta=2]", "--time", "0.002",
                   "--repetitions", "2", "--quiet", "--dump", path("variants.h5")});
  ASSERT_EQ(variants.code, 0) << variants.out << variants.err;
  const Outcome step =
      unit({"--filter", "^stride1$", "--variant", "fused", "--dump", path("step.h5")});
  ASSERT_EQ(step.code, 0) << step.out << step.err;
  for (const std::string& file : {path("variants.h5"), path("step.h5")}) {
    const Outcome seen = walked(file);
    EXPECT_EQ(seen.code, 0) << seen.err;
    EXPECT_EQ(seen.out, listed(file, "10"));
    EXPECT_FALSE(note(DumpFile(file).records().front(), "opbench_case").empty());
  }
}

TEST_F(ContextDump, StepsAreComparedTaskByTask) {
  for (const std::string step : {"native", "index_select", "fused"}) {
    const Outcome outcome =
        unit({"--filter", "^stride1$", "--variant", step, "--dump", path(step + ".h5")});
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  }
  for (const std::string step : {"index_select", "fused"}) {
    const Outcome outcome =
        run_program({"compare", path(step + ".h5"), path("native.h5"), "--quiet"});
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("PASSED"));
    EXPECT_THAT(outcome.out, HasSubstr(" 0 failed"));
  }
}

TEST_F(ContextDump, AFailedStepIsThereWithItsReason) {
  const Outcome outcome = dump(
      "blocks:\n"
      "  act: {inputs: [x], nodes: [{name: f, op: relu, in: x, out: y}], outputs: [y]}\n"
      "  soft: {inputs: [x], nodes: [{name: f, op: softplus, in: x, out: y}], outputs: [y]}\n"
      "contexts:\n"
      "  - name: other\n"
      "    inputs: {x: [4, 100]}\n"
      "    nodes: [{include: act, name: act, in: [x], out: [y]}]\n"
      "    outputs: [y]\n"
      "    steps: [{name: relu}, {name: softplus, blocks: {act: soft}}]\n");
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  const std::vector<Executed> records = executed(path("x.h5"));
  EXPECT_THAT(column(records, &Executed::op), ElementsAre("relu", "softplus"));
  EXPECT_THAT(column(records, &Executed::status), ElementsAre("passed", "failed"));
  EXPECT_THAT(records.at(1).reason, HasSubstr("differs from step 'relu': y: "));
  EXPECT_EQ(records.at(1).inputs, records.at(0).inputs);
}

TEST_F(ContextDump, NothingToDumpLeavesNoFileAndSaysWhy) {
  const Outcome outcome = dump(
      "contexts:\n"
      "  - name: huge\n"
      "    inputs: {x: [1048576, 1048576]}\n"
      "    nodes: [{name: f, op: relu, in: x, out: y}]\n"
      "    outputs: [y]\n");
  EXPECT_EQ(outcome.code, 3) << "that of the run";
  EXPECT_THAT(outcome.err, HasSubstr("opbench: no dump is written to " + path("x.h5")));
  EXPECT_THAT(outcome.err, HasSubstr("iB of memory, "));
  EXPECT_THAT(outcome.err, HasSubstr("nothing ran (default errored: needs "));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_FALSE(has_dump());
  const Outcome skipped = run_program({"--case", "softplus[8,fp32,beta=2]", "--variant", "softplus",
                                       "--quiet", "--dump", path("x.h5")});
  EXPECT_EQ(skipped.code, 4) << "nothing to judge";
  EXPECT_THAT(skipped.err, HasSubstr("softplus skipped: it takes beta = 1 only, found 2"));
  EXPECT_FALSE(has_dump());
}

TEST_F(ContextDump, WhatDoesNotFitDoesNotKeepTheOthersFromBeingDumped) {
  const Outcome outcome = dump(
      "symbols: {N: 8}\n"
      "contexts:\n"
      "  - name: sizes\n"
      "    inputs: {x: [N, 1048576]}\n"
      "    nodes: [{name: f, op: relu, in: x, out: y}]\n"
      "    outputs: [y]\n"
      "    steps: [{name: huge, set: {N: N*131072}}, {name: small, set: {N: 1}}]\n");
  EXPECT_EQ(outcome.code, 3) << outcome.out << outcome.err;
  EXPECT_THAT(column(executed(path("x.h5")), &Executed::step), ElementsAre("small"));
}

TEST_F(ContextDump, ReproducingLineKeepsTheInstructionSet) {
  const Outcome best = dump(kTraining, {"--json", path("best.json")});
  ASSERT_EQ(best.code, 0) << best.err;
  EXPECT_THAT(read("best.json"), testing::Not(HasSubstr(" --isa ")));
  const std::string isa = supported_isas().back();
  if (isa == supported_isas().front()) return;
  const Outcome other = dump(kTraining, {"--isa", isa, "--json", path("other.json")});
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_THAT(read("other.json"), HasSubstr("--variant first --threads"));
  EXPECT_THAT(read("other.json"), HasSubstr(" --isa " + isa + "\""));
}

}  // namespace
}  // namespace opbench
