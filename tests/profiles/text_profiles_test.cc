// Compares texts of CPU libraries and dumps with sums of their own numbers.
#include "profiles/text_profiles.h"

#include <gmock/gmock.h>

#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

// Source: output of PyTorch 1.13 with oneDNN 2.6. 22 primitives take 0.0922853 ms, 6 of them are
// convolutions and take 0.0480958 ms.
TEST(TextProfiles, ReadOneDnnsVerboseOutput) {
  const IngestResult result = ingest_samples({"cpu/onednn_verbose_pytorch.txt"});
  EXPECT_EQ(result.files[0].kind, "onednn_verbose");
  EXPECT_EQ(result.hot_spots.computing().count, 22);
  EXPECT_NEAR(in_us(result.hot_spots.computing().total_ps), 92.2853, 1e-3);
  const HotType first = result.hot_spots.types()[0];
  EXPECT_EQ(first.type, "convolution");
  EXPECT_EQ(first.core, "cpu");
  EXPECT_EQ(first.time.count, 6);
  EXPECT_NEAR(in_us(first.time.total_ps), 48.0958, 1e-3);
  EXPECT_EQ(result.hot_spots.operators()[0].input_shapes,
            "mb2_ic3oc16_ih8oh8kh3sh1dh0ph1_iw8ow8kw3sw1dw0pw1");
}

// The forms in oneDNN's documentation of 1.x, 2.x and 3.x, and the form with timestamps.
TEST(TextProfiles, ReadEveryGenerationOfVerboseLines) {
  const std::string rest =
      "exec,cpu,eltwise,jit:avx2,forward_training,data_f32,,alg:relu,8x4,0.5\n";
  const IngestResult result = ingest_text(
      "epoch 1\ndnnl_verbose," + rest + "onednn_verbose," + rest + "onednn_verbose,primitive," +
      rest + "onednn_verbose,v1,1693533460193.346924,primitive," + rest +
      "onednn_verbose,v1,primitive,create:cache_miss,cpu,eltwise,jit:avx2,forward,x,,alg:relu,8x4,"
      "9\n"
      "onednn_verbose,exec,cpu,eltwise,jit\nonednn_verbose,exec,cpu,a,b,c,d,e,f,g,soon\n");
  EXPECT_EQ(result.hot_spots.computing().count, 4);
  EXPECT_EQ(result.hot_spots.computing().total_ps, 2'000'000'000);
  EXPECT_THAT(result.files[0].problems, ElementsAre("t.csv:7: a primitive without a time",
                                                    "t.csv:8: a primitive without a time"));
}

TEST(TextProfiles, ReadInputsOfBenchdnn) {
  const IngestResult result = ingest_text(
      "# AlexNet\n--reset --conv\n--dir=FWD_B --dt=f32\n"
      "mb96_ic3oc96_ih227oh55kh11sh4ph0n\"alexnet:conv1\"\n"
      "mb96_ic3oc96_ih227oh55kh11sh4ph0n\"again\"\n--matmul 64x128:128x256 what\n");
  EXPECT_EQ(result.files[0].kind, "benchdnn");
  const std::vector<TraceOperator>& calls = result.trace.operators();
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_EQ(calls[0].name, "conv");
  EXPECT_EQ(calls[0].calls, 2);
  EXPECT_EQ(calls[0].input_shapes, "mb96_ic3oc96_ih227oh55kh11sh4ph0");
  EXPECT_EQ(calls[0].input_values, "--dir=FWD_B;--dt=f32");
  EXPECT_EQ(calls[1].name, "matmul");
  EXPECT_THAT(result.files[0].problems, ElementsAre("t.csv:6: 'what' is not a problem"));
}

// Source: twelve calls of Ascend/mstt's tests.
TEST(TextProfiles, ReadCallsOfMsprobe) {
  const IngestResult result = ingest_samples({"calls/msprobe_dump.json"});
  EXPECT_EQ(result.files[0].rows, 12);
  const std::vector<TraceOperator>& calls = result.trace.operators();
  EXPECT_EQ(calls[0].name, "Tensor.__add__.forward");
  EXPECT_EQ(calls[0].calls, 2);
  EXPECT_EQ(calls[0].input_dtypes, "INT64;Scalar");
  EXPECT_EQ(calls[0].input_values, ";1");
  EXPECT_EQ(calls[1].input_shapes, "1,4096;1,4096");
  EXPECT_EQ(calls[1].input_dtypes, "BOOL;BOOL");
  EXPECT_THAT(calls[3].name, "Module.VocabParallelEmbedding.forward");
}

// tests/data/results_version_3.json has medians of 39.618, 10.229, 19.945, 39.981, 10.156 and
// 19.896 us. The case counts five times.
TEST(TextProfiles, ReadOurOwnResults) {
  const IngestResult result = ingest_samples({"../results_version_3.json"});
  EXPECT_EQ(result.files[0].kind, "results");
  EXPECT_EQ(result.files[0].rows, 6);
  EXPECT_EQ(result.hot_spots.computing().count, 30);
  EXPECT_NEAR(in_us(result.hot_spots.computing().total_ps), 699.126, 0.001);
  EXPECT_EQ(result.hot_spots.types()[0].core, "native");
}

TEST(TextProfiles, SayWhatIsWrongWithJson) {
  const auto problem = [](const std::string& text) {
    const IngestResult result = ingest_text(text);
    EXPECT_EQ(result.files[0].kind, "");
    return result.files[0].problems.at(0);
  };
  EXPECT_THAT(problem("{\"data\": {\"input_args\""), StartsWith("t.csv: "));
  EXPECT_THAT(problem("{\"data\": [], \"dump_data_dir\": null}"), HasSubstr("no object 'data'"));
  EXPECT_THAT(problem("{\"opbench\": 3, \"records\": 5}"), HasSubstr("no list 'records'"));
  const IngestResult odd = ingest_text(
      "{\"opbench\": 3, \"records\": [5, {}, {\"median_us\": -1}, {\"median_us\": 1e300},"
      "{\"median_us\": 2, \"count\": \"x\"}]}");
  EXPECT_EQ(odd.files[0].rows, 1);
  EXPECT_EQ(odd.hot_spots.computing().total_ps, 2'000'000);
}

TEST(TextProfiles, AreRecognisedByWhatTheyHold) {
  EXPECT_EQ(recognise_text("x\nonednn_verbose,info,oneDNN v3.1\n"), TextKind::onednn_verbose);
  EXPECT_EQ(recognise_text("# c\n\nmb1_ic3oc64_ih224\n"), TextKind::benchdnn);
  EXPECT_EQ(recognise_text("{\"a\": 1}"), std::nullopt);
  EXPECT_EQ(recognise_text("icy\n"), std::nullopt);
  EXPECT_EQ(recognise_text(""), std::nullopt);
}

}  // namespace
}  // namespace opbench
