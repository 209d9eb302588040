#include "harness/check/protocol.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "harness/check/sampler.h"
#include "harness/check/worker.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench::check {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

OpenRequest small_case() {
  OpenRequest request;
  request.id = request.key = "softplus[8x64,fp32]";
  request.threads = 1;
  request.variants = {"native", "softplus_v2", "not_there"};
  request.sample_seconds = 0.001;
  request.layout = 1001;
  return request;
}

std::string text_of_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Answers of a worker to `requests`, line by line, after its hello.
std::vector<std::string> answers(const std::vector<std::string>& requests) {
  std::istringstream in(text_of_lines(requests));
  std::ostringstream out;
  run_worker(in, out);
  return lines_of(out.str());
}

// Answers of a worker with these faults.
std::vector<std::string> faulty_answers(const std::string& faults,
                                        const std::vector<std::string>& requests) {
  const TempDir folder;
  const std::string input = folder.write("requests", text_of_lines(requests));
  return lines_of(shell(faults + " " + faulty_program() + " worker <" + input).out);
}

}  // namespace

TEST(CheckProtocol, HelloGoesThrough) {
  const Hello hello = parse_hello(hello_line({3, 2, {"1.2", "abc", "GNU", "-O3", "Release"}}));
  EXPECT_EQ(hello.protocol, 3);
  EXPECT_EQ(hello.oldest, 2);
  EXPECT_EQ(hello.build, (BuildInfo{"1.2", "abc", "GNU", "-O3", "Release"}));
}

TEST(CheckProtocol, RequestsGoThrough) {
  CaseSelection selection;
  selection.ops = {"softplus", "relu"};
  selection.shapes_file = "cases/a \"b\".yaml";
  selection.case_files = {"x.yaml", "y.yaml"};
  selection.case_ids = {"relu[8]"};
  selection.filter = "a|b";
  selection.dtypes = {DType::fp16};
  selection.formats = {Format::NC1HWC0};
  selection.variants = {"native"};
  selection.symbols = {{"N", 8}};
  selection.backward = true;
  selection.part = {2, 3};
  const Request list = parse_request(list_line(selection));
  ASSERT_EQ(list.kind, Request::list);
  EXPECT_EQ(list.selection, selection);

  const Request open = parse_request(open_line(small_case()));
  ASSERT_EQ(open.kind, Request::open);
  EXPECT_EQ(open.open_it, small_case());
  EXPECT_EQ(parse_request(sample_line("native")).variant, "native");
  EXPECT_EQ(parse_request(sample_line("native", 1003)).layout, 1003u);
  EXPECT_EQ(parse_request(R"({"do": "sample", "variant": "v"})").layout, 0u) << "of an older build";
  const Request code = parse_request(code_line("native"));
  EXPECT_EQ(code.kind, Request::code);
  EXPECT_EQ(code.variant, "native");
  EXPECT_EQ(parse_request(close_line()).kind, Request::close);
}

TEST(CheckProtocol, AnswersGoThrough) {
  const std::vector<ListedCase> cases = {
      {"a[1]", "a", "first", 3, {"v"}, 0.07},
      {"b[1]", "b[1]", "", 1, {}, std::nullopt},
      {"c[1]", "c[1]", "", 1, {}, {}, {}, ExpectedFailure{{"v1"}, {}, "V1 overflows"}}};
  EXPECT_EQ(parse_listed(listed_line(cases)), cases);
  const OpenReply reply = {"a[1]",
                           {{"native", Status::passed, "", Accuracy{1.5, 0.1, 1e-7}, "00ff"},
                            {"onednn", Status::skipped, "no fp16", {}}}};
  EXPECT_EQ(parse_opened(opened_line(reply)), reply);
  OpenReply verified = reply;
  verified.variants[0].results = "00fe";
  EXPECT_EQ(parse_opened(opened_line(verified)), verified);
  for (const Sampled& sampled : {Sampled{0.25, ""}, Sampled{0.25, "differs", "00fe"}}) {
    EXPECT_EQ(parse_sampled(sampled_line(sampled)), sampled);
  }
  const CodeReply code = {"00ff", ""}, unknown = {"", "it was stripped"};
  EXPECT_EQ(parse_coded(coded_line(code)), code);
  EXPECT_EQ(parse_coded(coded_line(unknown)), unknown);
  parse_closed(closed_line());
}

TEST(CheckProtocol, ContextsGoThrough) {
  const ContextSource source{"c.yaml", "unit", DType::fp16, {{"N", 8}}};
  ListedCase listed{"unit[N=8,fp16]", "unit[N=8,fp16]", "", 1, {"native", "one"}, {}, source};
  EXPECT_EQ(parse_listed(listed_line({listed})).at(0), listed);
  OpenRequest request = small_case();
  request.context = source;
  EXPECT_EQ(parse_request(open_line(request)).open_it, request);
  OpenReply reply{"unit[N=8,fp16]", {{"native", Status::passed, "", {}}}};
  reply.variants[0].conversions = Conversions{3, 6144, 1, 2};
  EXPECT_EQ(parse_opened(opened_line(reply)), reply);
}

TEST(CheckProtocol, AnInfiniteErrorStaysInfinite) {
  const OpenReply reply = {"a", {{"v", Status::passed, "", Accuracy{HUGE_VAL}, "0"}}};
  EXPECT_EQ(parse_opened(opened_line(reply)).variants[0].accuracy->max_ulp, HUGE_VAL);
}

TEST(CheckProtocol, UnknownKeysAreLeftAlone) {
  EXPECT_EQ(parse_sampled(R"({"us": 2, "calls": 7})").us, 2);
}

TEST(CheckProtocol, AnErrorIsThrownWhateverTheQuestion) {
  const std::string line = error_line("no such\ncase");
  EXPECT_THAT([&] { parse_opened(line); }, ThrowsMessage<WorkerError>("no such\\x0acase"));
  EXPECT_THAT([] { parse_opened(error_line(std::string(100000, 'x'))); },
              ThrowsMessage<WorkerError>(
                  testing::EndsWith("x ... 99000 more bytes ... " + std::string(500, 'x'))));
  EXPECT_THROW(parse_listed(line), WorkerError);
  EXPECT_THROW(parse_sampled(line), WorkerError);
  EXPECT_THROW(parse_closed(line), WorkerError);
}

TEST(CheckProtocol, BadLinesSayWhatIsWrong) {
  EXPECT_THROW(parse_hello(""), Error);
  EXPECT_THROW(parse_hello("hello"), Error);
  EXPECT_THAT([] { parse_hello("[1]"); }, ThrowsMessage<Error>(HasSubstr("must be an object")));
  EXPECT_THAT([] { parse_hello("{}"); },
              ThrowsMessage<Error>(HasSubstr("has no 'opbench_worker'")));
  EXPECT_THAT([] { parse_hello(R"({"opbench_worker": "1"})"); },
              ThrowsMessage<Error>(HasSubstr("opbench_worker is the text '1'")));
  EXPECT_THAT([] { parse_hello(R"({"opbench_worker": 1.5})"); },
              ThrowsMessage<Error>(HasSubstr("a whole number")));
  EXPECT_THAT([] { parse_request(R"({"do": "dance"})"); },
              ThrowsMessage<Error>(HasSubstr("unknown request 'dance'")));
  for (const char* us : {"-1", "0", "null", "\"1\""}) {
    EXPECT_THAT([&] { parse_sampled(std::string("{\"us\": ") + us + "}"); },
                ThrowsMessage<Error>(HasSubstr("must be a number")))
        << us;
  }
  const char* unknown = R"({"case": "a", "variants": [{"variant": "v", "status": "?"}]})";
  EXPECT_THAT([&] { parse_opened(unknown); },
              ThrowsMessage<Error>(HasSubstr("variants[0].status: status '?' must be one of")));
}

// A line of the protocol that is cut at any place is an error, not a crash.
TEST(CheckProtocol, TruncatedLinesAreErrors) {
  const std::string line =
      opened_line({"a[1]", {{"native", Status::passed, "", Accuracy{1.5, 0.1, 1e-7}, "00ff"}}});
  for (std::size_t length = 0; length < line.size(); ++length) {
    EXPECT_THROW(parse_opened(line.substr(0, length)), Error) << length;
  }
  const std::string request = open_line(small_case());
  for (std::size_t length = 0; length < request.size(); ++length) {
    EXPECT_THROW(parse_request(request.substr(0, length)), Error) << length;
  }
}

TEST(CheckWorker, OpensVerifiesAndTakesSamples) {
  const auto lines = answers({open_line(small_case()), sample_line("softplus_v2"),
                              sample_line("onednn"), close_line(), sample_line("softplus_v2")});
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(parse_hello(lines[0]).protocol, kProtocolVersion);
  const OpenReply reply = parse_opened(lines[1]);
  EXPECT_EQ(reply.id, "softplus[8x64,fp32,ND,beta=1,threshold=20]");
  ASSERT_EQ(reply.variants.size(), 2u) << "a variant it does not have is left out";
  EXPECT_EQ(reply.variants[0].name, "native");
  EXPECT_EQ(reply.variants[0].status, Status::passed);
  EXPECT_LE(reply.variants[0].accuracy->max_ulp, 4);
  EXPECT_GT(parse_sampled(lines[2]).us, 0);
  EXPECT_THROW(parse_sampled(lines[3]), WorkerError) << "not one of the open variants";
  parse_closed(lines[4]);
  EXPECT_THAT([&] { parse_sampled(lines[5]); }, ThrowsMessage<WorkerError>("no case is open"));
}

TEST(CheckWorker, TellsVariantsByTheirCode) {
  const auto lines = answers({code_line("native"), open_line(small_case()), code_line("native"),
                              code_line("softplus_v2"), code_line("no"), open_line(small_case()),
                              code_line("native")});
  EXPECT_THROW(parse_coded(lines[1]), WorkerError) << "no case is open";
  const CodeReply native = parse_coded(lines[3]);
  EXPECT_NE(native.fingerprint, "") << native.reason;
  EXPECT_NE(parse_coded(lines[4]).fingerprint, native.fingerprint);
  EXPECT_THROW(parse_coded(lines[5]), WorkerError) << "no such variant";
  EXPECT_EQ(parse_coded(lines[7]), native);
}

TEST(CheckWorker, SameCaseGivesTheSameBits) {
  OpenRequest elsewhere = small_case();
  elsewhere.layout = 7;
  const auto lines =
      answers({open_line(small_case()), open_line(small_case()), open_line(elsewhere)});
  EXPECT_EQ(parse_opened(lines[1]), parse_opened(lines[2]));
  EXPECT_EQ(parse_opened(lines[1]), parse_opened(lines[3])) << "wherever its tensors lie";
}

// The sample prepares the kernels, so there is only one. Other variants have one, too.
TEST(CheckWorker, AFirstCallIsTimedOnce) {
  OpenRequest request = small_case();
  request.first_call = true;
  request.verify = false;
  const auto lines =
      answers({open_line(request), sample_line("softplus_v2"), sample_line("softplus_v2"),
               sample_line("native"), open_line(small_case())});
  EXPECT_TRUE(parse_opened(lines[1]).first_call);
  for (const std::size_t i : {2, 4}) {
    EXPECT_GT(parse_sampled(lines[i]).us, 0);
    EXPECT_EQ(parse_sampled(lines[i]).wrong, "");
  }
  EXPECT_THAT([&] { parse_sampled(lines[3]); },
              ThrowsMessage<WorkerError>(HasSubstr("its first call has already run")));
  EXPECT_FALSE(parse_opened(lines[5]).first_call);
}

// The layout changes between samples. Calls are watched and their results are judged there as well.
TEST(CheckWorker, TakesSamplesInAnyLayout) {
  const auto lines =
      answers({open_line(small_case()), sample_line("native", 1), sample_line("softplus_v2", 1),
               sample_line("native", 2), sample_line("softplus_v2", 1003), sample_line("native")});
  for (std::size_t i = 2; i < 7; ++i) {
    const Sampled sampled = parse_sampled(lines.at(i));
    EXPECT_GT(sampled.us, 0) << i;
    EXPECT_EQ(sampled.wrong, "") << i;
    const std::size_t variant = i % 2 == 1 ? 1 : 0;
    EXPECT_EQ(sampled.results, parse_opened(lines[1]).variants[variant].results) << i;
    EXPECT_NE(sampled.results, "") << i;
  }
}

// All its calls agree, but differ from the verified results.
TEST(CheckWorker, WhatIsWrongInEveryTimedCallIsNotWhatWasVerified) {
  const auto lines = faulty_answers(
      "OPBENCH_TEST_WRONG_CALLS=native=100",
      {open_line(small_case()), sample_line("native", 1), sample_line("softplus_v2", 1)});
  ASSERT_EQ(lines.size(), 4u);
  const OpenReply opened = parse_opened(lines[1]);
  const Sampled wrong = parse_sampled(lines[2]), right = parse_sampled(lines[3]);
  EXPECT_EQ(wrong.wrong, "");
  EXPECT_NE(wrong.results, opened.variants[0].results);
  EXPECT_EQ(right.results, opened.variants[1].results);
}

TEST(CheckWorker, AnAttributeItDoesNotKnowIsLeftOutWhereItIsAtItsDefault) {
  OpenRequest request = small_case();
  request.id = "softplus[8x64,fp32,ND,beta=1,threshold=20,new=3]";
  EXPECT_EQ(parse_opened(answers({open_line(request)})[1]).variants.size(), 2u);
  request.key = request.id;  // differs from its default
  EXPECT_THROW(parse_opened(answers({open_line(request)})[1]), WorkerError);
}

// The line that builds of protocol 1 write and read.
TEST(CheckProtocol, TheSelectionKeepsItsForm) {
  CaseSelection selection;
  selection.ops = {"relu"};
  selection.dtypes = {DType::fp16, DType::bf16};
  selection.symbols = {{"C", 3}, {"N", 8}};
  EXPECT_EQ(list_line(selection),
            R"({"do":"list","ops":["relu"],"shapes":"","files":[],"ids":[],"filter":"",)"
            R"("dtypes":["fp16","bf16"],"formats":[],"variants":[],"backward":false,)"
            R"("set":{"C":3,"N":8},"shard_index":1,"shard_count":1})");
}

TEST(CheckWorker, BadRequestsAreAnsweredAndSurvived) {
  OpenRequest other = small_case();
  other.id = other.key = "nosuch[8]";
  const auto lines = answers({"", "{", open_line(other), open_line(small_case())});
  ASSERT_EQ(lines.size(), 5u);
  for (int i = 1; i < 4; ++i) EXPECT_THROW(parse_opened(lines[i]), WorkerError) << i;
  EXPECT_EQ(parse_opened(lines[4]).variants.size(), 2u);
}

TEST(CheckWorker, ListsWhatIsSelected) {
  CaseSelection selection;
  selection.case_ids = {"relu[4x4,fp16]", "softplus[8x64,fp32,beta=2]"};
  const auto cases = parse_listed(answers({list_line(selection)})[1]);
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[1].id, "softplus[8x64,fp32,ND,beta=2,threshold=20]");
  EXPECT_EQ(cases[1].key, "softplus[8x64,fp32,ND,beta=2]");
}

TEST(CheckWorker, ListsWhatIsExpectedToFailInItsDType) {
  const TempDir dir;
  CaseSelection selection;
  selection.case_files = {dir.write("cases.yaml", R"(dtypes: [fp32, fp16]
cases:
  - {op: relu, inputs: [[4, 4]], expect: {status: failed, variants: [relu], dtypes: [fp16]}, reason: it overflows}
)")};
  const std::vector<ListedCase> listed = parse_listed(answers({list_line(selection)})[1]);
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].expected_failure, std::nullopt);
  EXPECT_EQ(listed[1].expected_failure, (ExpectedFailure{{"relu"}, {}, "it overflows"}));
}

// A pool in NC1HWC0: in the device's format, and like a framework between two TransData.
TEST(CheckWorker, StepsOfAContextAreItsVariants) {
  const TempDir dir;
  const std::string path = dir.write("context.yaml", R"(symbols: {N: 2}
contexts:
  - name: pair
    inputs: {x: {shape: [N, 16, 8, 8], format: NC1HWC0}}
    nodes: [{op: relu, in: x, out: y}, {op: global_avg_pool2d, in: y, out: z}]
    outputs: [z]
    samples: N
    steps:
      - {name: npu}
      - {name: framework, variants: {default: native}}
      - {name: elsewhere, not_applicable: "on a device only"}
)");
  CaseSelection selection;
  selection.case_files = {path};
  selection.symbols = {{"N", 1}};
  const std::vector<ListedCase> listed = parse_listed(answers({list_line(selection)})[1]);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].id, "pair[N=1,fp32]");
  EXPECT_EQ(listed[0].context, (ContextSource{path, "pair", DType::fp32, {{"N", 1}}}));
  EXPECT_THAT(listed[0].variants, testing::ElementsAre("npu", "framework", "elsewhere"));

  OpenRequest request = small_case();
  request.id = request.key = listed[0].id;
  request.context = listed[0].context;
  request.variants = listed[0].variants;
  const auto lines = answers({open_line(request), sample_line("npu"), sample_line("framework"),
                              sample_line("npu"), sample_line("elsewhere")});
  const OpenReply reply = parse_opened(lines[1]);
  EXPECT_EQ(reply.id, "pair[N=1,fp32]");
  ASSERT_EQ(reply.variants.size(), 3u);
  EXPECT_EQ(reply.variants[0].status, Status::passed);
  EXPECT_EQ(reply.variants[0].conversions->trans_data, 0);
  EXPECT_EQ(reply.variants[1].conversions->trans_data, 2);
  EXPECT_EQ(reply.variants[2].status, Status::skipped);
  EXPECT_EQ(reply.variants[2].reason, "on a device only");
  for (int i = 2; i < 5; ++i) EXPECT_GT(parse_sampled(lines[i]).us, 0);
  EXPECT_THROW(parse_sampled(lines[5]), WorkerError);

  request.context->name = "other";
  EXPECT_THAT([&] { parse_opened(answers({open_line(request)})[1]); },
              ThrowsMessage<WorkerError>(HasSubstr("the file has no context 'other'")));
}

// Faults that cannot be parsed would make an empty test.
TEST(CheckWorker, WhatFaultsAreWantedIsReadOrRefused) {
  const std::string program = " " + faulty_program() + " --version";
  for (const char* good : {"", "softplus_v2=10,native=2.5", "nothing=1"}) {
    EXPECT_EQ(shell("OPBENCH_TEST_SLOWDOWN=" + std::string(good) + program).code, 0) << good;
  }
  for (const char* bad : {"x", "x=", "=5", "x=0", "x=abc", "x=5%", "x=nan"}) {
    const Outcome refused = shell("OPBENCH_TEST_SLOWDOWN=" + std::string(bad) + program);
    EXPECT_EQ(refused.code, 2) << bad;
    EXPECT_THAT(refused.err, HasSubstr("must be VARIANT=PERCENT")) << bad;
  }
}

TEST(CheckSampler, EveryCallIsEvictedWhereAsked) {
  int calls = 0, evictions = 0;
  ShortSampler::Options options;
  options.seconds = 1e-3;
  options.evict = [&] { ++evictions; };
  const ShortSampler sampler([&] { ++calls; }, options);
  sampler.sample_us();
  EXPECT_GT(calls, 3);
  EXPECT_EQ(calls, evictions);
}

}  // namespace opbench::check
