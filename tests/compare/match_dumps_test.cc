#include "compare/match_dumps.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/compare/dump_records.h"

namespace opbench {
namespace {

using compare_tests::Call;
using compare_tests::cpu;
using compare_tests::gpu;
using compare_tests::npu;
using testing::ElementsAre;
using Records = std::vector<DumpRecord>;

/// Values by path, for alignment.
using Contents = std::map<std::string, std::vector<double>>;

ValueSample sampling(const Contents& contents) {
  return [&contents](const DumpEntry& entry) {
    const auto found = contents.find(entry.path);
    return found == contents.end() ? std::vector<double>() : found->second;
  };
}

std::vector<OperatorMatch> matched(const Records& actual, const Records& expected,
                                   const MatchOptions& options = {}) {
  return match_dumps({actual, {}}, {expected, {}}, default_name_map(), options);
}

std::string side_text(const DumpRecord* record) {
  return record == nullptr ? "-" : fmt::format("{}/{}", record->op, record->seq_text);
}

// The matches in the form "Tanh/1 Tanh/4", "- Relu/7".
std::vector<std::string> calls(const std::vector<OperatorMatch>& matches) {
  std::vector<std::string> texts;
  for (const OperatorMatch& match : matches) {
    texts.push_back(side_text(match.actual) + " " + side_text(match.expected));
  }
  return texts;
}

// The matches in the form "input/x input/y".
std::vector<std::string> tensors(const OperatorMatch& match) {
  const auto text = [](const DumpEntry* entry) {
    if (entry == nullptr) return std::string("-");
    return (entry->side == Side::input    ? "input/"
            : entry->side == Side::output ? "output/"
                                          : "") +
           entry->name;
  };
  std::vector<std::string> texts;
  for (const TensorMatch& tensor : match.tensors) {
    texts.push_back(text(tensor.actual) + " " + text(tensor.expected));
  }
  return texts;
}

const std::vector<std::string> kPlain = {"input/x", "output/y"};

TEST(MatchDumps, PairsTheKthCalls) {
  const Records mine = npu({{"Tanh", "1", kPlain}, {"Tanh", "5", kPlain}});
  const Records theirs = gpu({{"Tanh", "2", kPlain}, {"Tanh", "9", kPlain}});
  const auto matches = matched(mine, theirs);
  EXPECT_THAT(calls(matches), ElementsAre("Tanh/1 Tanh/2", "Tanh/5 Tanh/9"));
  EXPECT_EQ(matches[0].note, "");
  EXPECT_THAT(tensors(matches[0]), ElementsAre("input/x input/x", "output/y output/y"));
}

// Two steps of a context have equally many conversions, but only one conversion is in both.
TEST(MatchDumps, PairsCallsThatNameTheirTaskByIt) {
  Records mine = npu({{"Cast", "1", kPlain}, {"Cast", "2", kPlain}});
  Records theirs = npu({{"Cast", "1", kPlain}, {"Cast", "2", kPlain}});
  mine[0].notes = {{"opbench_task", "conv.cast0"}};
  mine[1].notes = {{"opbench_task", "conv.cast1"}};
  theirs[0].notes = {{"opbench_task", "conv.cast1"}};
  theirs[1].notes = {{"opbench_task", "conv.cast2"}};
  const auto matches = matched(mine, theirs);
  EXPECT_THAT(calls(matches), ElementsAre("Cast/1 -", "Cast/2 Cast/1", "- Cast/2"));
  EXPECT_EQ(matches[1].note, "aligned: call 2 of 2 with call 1 of 2, by task");
  theirs[0].notes.clear();
  theirs[1].notes.clear();
  EXPECT_THAT(calls(matched(mine, theirs)), ElementsAre("Cast/1 Cast/1", "Cast/2 Cast/2"))
      << "only one side names tasks";
}

TEST(MatchDumps, OrdersByNumberThenText) {
  const Records mine = npu({{"A", "10", kPlain},
                            {"A", "2", kPlain},
                            {"B", "3", kPlain},
                            {"C", "x2", kPlain},
                            {"C", "x10", kPlain},
                            {"A", "007", kPlain}});
  EXPECT_THAT(calls(matched(mine, {})),
              ElementsAre("A/2 -", "B/3 -", "A/007 -", "A/10 -", "C/x10 -", "C/x2 -"));
}

TEST(MatchDumps, TheOrderOfOperatorsInTheOtherDumpDoesNotMatter) {
  const Records mine = npu({{"A", "1", kPlain}, {"B", "2", kPlain}, {"C", "3", kPlain}});
  const Records theirs = gpu({{"C", "1", kPlain}, {"A", "2", kPlain}, {"B", "3", kPlain}});
  EXPECT_THAT(calls(matched(mine, theirs)), ElementsAre("A/1 A/2", "B/2 B/3", "C/3 C/1"));
}

TEST(MatchDumps, PlacesWhatOnlyTheOtherDumpHoldsBehindItsPredecessor) {
  const Records mine = npu({{"B", "5", kPlain}, {"D", "7", kPlain}});
  const Records theirs = gpu({{"A", "1", kPlain},
                              {"B", "2", kPlain},
                              {"C", "3", kPlain},
                              {"C", "4", kPlain},
                              {"D", "5", kPlain},
                              {"E", "6", kPlain}});
  EXPECT_THAT(calls(matched(mine, theirs)),
              ElementsAre("- A/1", "B/5 B/2", "- C/3", "- C/4", "D/7 D/5", "- E/6"));
}

TEST(MatchDumps, MapsOperatorsAndParameters) {
  const Records mine = npu({{"NpuConvolutionBackward", "1", {"input/input", "output/grad"}}});
  const Records theirs = gpu({{"CudnnConvolutionBackward", "1", {"input/self", "output/grad"}}});
  const auto matches = matched(mine, theirs);
  EXPECT_THAT(calls(matches), ElementsAre("NpuConvolutionBackward/1 CudnnConvolutionBackward/1"));
  EXPECT_THAT(tensors(matches[0]),
              ElementsAre("input/input input/self", "output/grad output/grad"));
  EXPECT_EQ(matches[0].note, "CudnnConvolutionBackward there");
}

TEST(MatchDumps, CountsConvolutionsTogether) {
  const Records mine =
      npu({{"NpuConvolutionBackward", "1", kPlain}, {"NpuConvolutionBackward", "2", kPlain}});
  const Records theirs = gpu(
      {{"ThnnConvDepthwise2DBackward", "1", kPlain}, {"CudnnConvolutionBackward", "2", kPlain}});
  EXPECT_THAT(calls(matched(mine, theirs)),
              ElementsAre("NpuConvolutionBackward/1 ThnnConvDepthwise2DBackward/1",
                          "NpuConvolutionBackward/2 CudnnConvolutionBackward/2"));
  // Both dumps have both names, so each name is counted separately.
  const Records same = gpu(
      {{"CudnnConvolutionBackward", "1", kPlain}, {"ThnnConvDepthwise2DBackward", "2", kPlain}});
  EXPECT_THAT(calls(matched(same, theirs)),
              ElementsAre("CudnnConvolutionBackward/1 CudnnConvolutionBackward/2",
                          "ThnnConvDepthwise2DBackward/2 ThnnConvDepthwise2DBackward/1"));
}

TEST(MatchDumps, PrefixesFollowTheDevice) {
  const Records mine = npu({{"NpuRnn", "1", kPlain}});
  const std::vector<Call> both = {{"CudnnRnn", "1", kPlain}, {"ThnnRnn", "2", kPlain}};
  EXPECT_THAT(calls(matched(mine, gpu(both))), ElementsAre("NpuRnn/1 CudnnRnn/1", "- ThnnRnn/2"));
  EXPECT_THAT(calls(matched(mine, cpu(both))), ElementsAre("- CudnnRnn/1", "NpuRnn/1 ThnnRnn/2"));
  EXPECT_THAT(calls(matched(gpu({{"CudnnRnn", "1", kPlain}}), npu({{"NpuRnn", "4", kPlain}}))),
              ElementsAre("CudnnRnn/1 NpuRnn/4"));
}

TEST(MatchDumps, ANamesakeGoesBeforeTheMap) {
  const Records mine = npu({{"CudnnX", "1", kPlain}, {"NpuX", "2", kPlain}});
  EXPECT_THAT(calls(matched(mine, gpu({{"CudnnX", "1", kPlain}}))),
              ElementsAre("CudnnX/1 CudnnX/1", "NpuX/2 -"));
}

TEST(MatchDumps, KeepsTensorsWithoutAPartner) {
  const Records mine = npu({{"Add", "1", {"input/a", "input/b", "output/y"}}});
  const Records theirs = gpu({{"Add", "1", {"input/b", "input/c", "other/z", "output/y"}}});
  EXPECT_THAT(
      tensors(matched(mine, theirs)[0]),
      ElementsAre("input/a -", "input/b input/b", "- input/c", "output/y output/y", "- other/z"));
}

TEST(MatchDumps, LeavesOutArgumentsButNotWhatCannotBeRead) {
  Records mine = npu({{"Add", "1", {"input/alpha", "input/name", "output/y"}}});
  mine[0].entries[0].kind = EntryKind::scalar;
  mine[0].entries[1].kind = EntryKind::other;
  mine[0].entries[1].problem = "its elements are strings";
  EXPECT_THAT(tensors(matched(mine, {})[0]), ElementsAre("input/name -", "output/y -"));
}

// Only the path is known of damaged data and of data without extents.
TEST(MatchDumps, PairsOperatorsThatHoldNothingReadable) {
  Records mine = npu({{"Add", "1", {"output/y"}}}), theirs = gpu({{"Add", "4", {"output/y"}}});
  for (Records* side : {&mine, &theirs}) {
    DumpEntry& entry = (*side)[0].entries[0];
    entry.kind = EntryKind::other;
    entry.problem = "damaged";
  }
  const auto matches = matched(mine, theirs);
  EXPECT_THAT(calls(matches), ElementsAre("Add/1 Add/4"));
  EXPECT_THAT(tensors(matches[0]), ElementsAre("output/y output/y"));
}

DumpEntry stray(const std::string& path) {
  DumpEntry entry = compare_tests::entry("", "", "x", DeviceType::npu);
  entry.path = path;
  return entry;
}

TEST(MatchDumps, StraysPairByPath) {
  const std::vector<DumpEntry> mine = {stray("/loss"), stray("/a/b")};
  const std::vector<DumpEntry> theirs = {stray("/c"), stray("/loss")};
  const auto matches = match_dumps({{}, mine}, {{}, theirs}, default_name_map());
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].note, "outside of any operator");
  ASSERT_EQ(matches[0].tensors.size(), 3u);
  EXPECT_EQ(matches[0].tensors[0].expected, &theirs[1]);
  EXPECT_EQ(matches[0].tensors[1].expected, nullptr);
  EXPECT_EQ(matches[0].tensors[2].expected, &theirs[0]);
}

TEST(MatchDumps, ParametersPairUnderOtherKeysIfTheirNameIsUnique) {
  const std::vector<DumpEntry> mine = {stray("/state_dict/module.w"), stray("/ema/module.b"),
                                       stray("/state_dict/module.x"), stray("/model/x")};
  const std::vector<DumpEntry> theirs = {stray("/b"), stray("/w"), stray("/x")};
  const auto matches = match_dumps({{}, mine}, {{}, theirs}, default_name_map());
  ASSERT_EQ(matches[0].tensors.size(), 6u);
  EXPECT_EQ(matches[0].tensors[0].expected, &theirs[1]);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(matches[0].tensors[i].expected, nullptr) << i;
}

TEST(MatchDumps, LoadModeGoesBySeq) {
  const Records mine = npu({{"A", "3", {"output/y"}}, {"A", "8", {"output/y"}}});
  const Records theirs = gpu({{"A", "1", kPlain}, {"A", "3", kPlain}, {"A", "5", kPlain}});
  EXPECT_TRUE(is_load_mode(mine));
  EXPECT_FALSE(is_load_mode(theirs));
  EXPECT_FALSE(is_load_mode(Records{}));
  Records with_scalar = npu({{"A", "3", {"input/alpha", "output/y"}}});
  with_scalar[0].entries[0].kind = EntryKind::scalar;
  EXPECT_FALSE(is_load_mode(with_scalar));
  Records with_group = mine;
  with_group[0].has_input_group = true;
  EXPECT_FALSE(is_load_mode(with_group));
  const auto matches = matched(mine, theirs);
  EXPECT_THAT(calls(matches), ElementsAre("- A/1", "A/3 A/3", "- A/5", "A/8 -"));
  EXPECT_THAT(tensors(matches[1]), ElementsAre("- input/x", "output/y output/y"));
}

/// Records of "Mul". The input of each holds one of the values.
struct MulCalls {
  Records records;
  Contents contents;

  MulCalls(DeviceType device, const std::vector<double>& values, double error = 0) {
    std::vector<Call> made;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string seq = std::to_string(i + 1);
      made.push_back({"Mul", seq, kPlain});
      const double value = values[i] * (1 + error);
      contents["/Mul/" + seq + "/input/x"] = {value, -value, 3 * value};
    }
    records = compare_tests::records(device, made);
  }
};

// The seqs of the partners of each of our records. A record without a partner has '-'.
std::vector<std::string> aligned_seqs(const std::vector<double>& mine,
                                      const std::vector<double>& theirs,
                                      std::vector<std::string>* notes = nullptr,
                                      CallRule rule = CallRule::aligned) {
  const MulCalls actual(DeviceType::npu, mine), expected(DeviceType::cuda, theirs, 1e-3);
  const auto matches = matched(actual.records, expected.records,
                               {rule, sampling(actual.contents), sampling(expected.contents)});
  std::vector<std::string> partners;
  for (const OperatorMatch& match : matches) {
    if (match.actual != nullptr) {
      partners.push_back(match.expected != nullptr ? match.expected->seq_text : "-");
    }
    if (notes != nullptr) notes->push_back(match.note);
  }
  return partners;
}

TEST(MatchDumps, AlignsByContentWhereCountsDiffer) {
  EXPECT_THAT(aligned_seqs({9, 1, 2, 3}, {1, 2, 3}), ElementsAre("-", "1", "2", "3"));
  EXPECT_THAT(aligned_seqs({1, 9, 2, 3}, {1, 2, 3}), ElementsAre("1", "-", "2", "3"));
  EXPECT_THAT(aligned_seqs({1, 2, 3, 9}, {1, 2, 3}), ElementsAre("1", "2", "3", "-"));
  EXPECT_THAT(aligned_seqs({9, 1, 2, 8, 3}, {1, 2, 3}), ElementsAre("-", "1", "2", "-", "3"));
  EXPECT_THAT(aligned_seqs({1, 3}, {1, 2, 3}), ElementsAre("1", "3"));
  EXPECT_THAT(aligned_seqs({1, 1, 1}, {1, 1}), ElementsAre("1", "2", "-"));
}

TEST(MatchDumps, SaysWhatItAligned) {
  std::vector<std::string> notes;
  aligned_seqs({1, 9, 2}, {1, 2}, &notes);
  EXPECT_THAT(notes,
              ElementsAre("", "extra call: 3 calls against 2, by shape, dtype and inputs",
                          "aligned: call 3 of 3 with call 2 of 2, by shape, dtype and inputs"));
}

TEST(MatchDumps, ByNumberShifts) {
  EXPECT_THAT(aligned_seqs({9, 1, 2}, {1, 2}, nullptr, CallRule::by_number),
              ElementsAre("1", "2", "-"));
}

TEST(MatchDumps, EqualCountsGoByNumberWhateverTheyHold) {
  EXPECT_THAT(aligned_seqs({1, 2, 3}, {2, 3, 4}), ElementsAre("1", "2", "3"));
}

TEST(MatchDumps, AlignsByShapeWithoutContent) {
  Records mine = npu({{"Mul", "1", kPlain}, {"Mul", "2", kPlain}, {"Mul", "3", kPlain}});
  Records theirs = gpu({{"Mul", "1", kPlain}, {"Mul", "2", kPlain}});
  mine[1].entries[0].desc.shape = {5, 5};
  mine[2].entries[0].desc.shape = {7};
  theirs[1].entries[0].desc.shape = {7};
  const auto matches = matched(mine, theirs);
  EXPECT_THAT(calls(matches), ElementsAre("Mul/1 Mul/1", "Mul/2 -", "Mul/3 Mul/2"));
  EXPECT_EQ(matches[2].note, "aligned: call 3 of 3 with call 2 of 2, by shape and dtype");
}

// In dumps of any kind, every entry of both dumps appears exactly once, whatever the rule.
TEST(MatchDumps, EveryTensorAppearsExactlyOnce) {
  std::mt19937 random(11);
  const std::vector<std::string> ops = {"NpuConvolutionBackward",
                                        "CudnnConvolutionBackward",
                                        "ThnnConvDepthwise2DBackward",
                                        "NpuX",
                                        "CudnnX",
                                        "ThnnX",
                                        "NativeBatchNormBackward",
                                        "Tanh"};
  const std::vector<std::string> paths = {"input/self",    "input/input", "input/eps",
                                          "input/epsilon", "output/y",    "output/list/list_0",
                                          "other/z",       "bare"};
  const auto made = [&](DeviceType device) {
    std::vector<Call> list;
    const std::size_t count = random() % 30;
    for (std::size_t i = 0; i < count; ++i) {
      Call call{
          ops[random() % ops.size()], (random() % 5 == 0 ? "step" : "") + std::to_string(i), {}};
      for (const std::string& path : paths) {
        if (random() % 2 == 0) call.tensors.push_back(path);
      }
      list.push_back(std::move(call));
    }
    Records records = compare_tests::records(device, list);
    for (DumpRecord& record : records) {
      for (DumpEntry& entry : record.entries) {
        if (random() % 8 == 0) entry.kind = EntryKind::scalar;
        if (random() % 8 == 0) entry.problem = "damaged";
        if (random() % 4 == 0) entry.desc.shape = {4};
      }
    }
    std::shuffle(records.begin(), records.end(), random);
    return records;
  };
  for (int round = 0; round < 300; ++round) {
    const Records mine = made(DeviceType::npu), theirs = made(DeviceType::cuda);
    const CallRule rule = round % 2 == 0 ? CallRule::aligned : CallRule::by_number;
    std::multiset<const DumpEntry*> found, wanted;
    std::multiset<const DumpRecord*> records;
    for (const OperatorMatch& match : matched(mine, theirs, {rule})) {
      records.insert({match.actual, match.expected});
      for (const TensorMatch& tensor : match.tensors) {
        ASSERT_TRUE(tensor.actual != nullptr || tensor.expected != nullptr);
        const bool is_pair = tensor.actual != nullptr && tensor.expected != nullptr;
        ASSERT_TRUE(!is_pair || tensor.actual->side == tensor.expected->side);
        found.insert({tensor.actual, tensor.expected});
      }
    }
    found.erase(nullptr);
    for (const Records* dump : {&mine, &theirs}) {
      for (const DumpRecord& record : *dump) {
        EXPECT_EQ(records.count(&record), 1u);
        for (const DumpEntry& entry : record.entries) {
          if (entry.kind == EntryKind::tensor || !entry.problem.empty()) wanted.insert(&entry);
        }
      }
    }
    ASSERT_EQ(found, wanted);
  }
}

}  // namespace
}  // namespace opbench
