// One artefact file holds a whole result. run and compare write it; report, explain and compare
// read it.
#include <gmock/gmock.h>

#include <filesystem>

#include "cli/cli.h"
#include "tests/cli/error_line.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kTwoCaseRun = {
    "--case", "relu[64x33,fp32]", "--case",    "relu[7,fp16]", "--time", "0.002", "--repetitions",
    "3",      "--quiet",          "--variant", "native,relu"};

class ArtefactCli : public testing::Test, protected TempDir {
 protected:
  Outcome run(std::vector<std::string> more) const {
    more.insert(more.begin(), kTwoCaseRun.begin(), kTwoCaseRun.end());
    return opbench_with(std::move(more));
  }
  Outcome explain(const std::string& wanted = "", const std::string& file = "run.h5") const {
    std::vector<std::string> words = {"report", path(file), "--to", "words"};
    if (!wanted.empty()) words.insert(words.end(), {"--case", wanted});
    return opbench_with(std::move(words));
  }

  // The page that `opbench report` writes for a file.
  std::string page_of(const std::string& file) const {
    const Outcome made = opbench_with({"report", path(file), "--html", path("page.html")});
    EXPECT_EQ(made.code, kAllWell) << made.err;
    std::string page = read("page.html");
    std::filesystem::remove(path("page.html"));
    return page;
  }

  // Expects the page of `json` again if only `artefact` is left, under another name.
  void expect_page_without(const std::string& json, const std::string& artefact) const {
    const std::string page = page_of(json);
    std::filesystem::remove(path(json));
    std::filesystem::rename(path(artefact), path("kept.h5"));
    ASSERT_THAT(files(), ElementsAre("kept.h5"));
    EXPECT_TRUE(page_of("kept.h5") == page);
  }
};

}  // namespace

TEST_F(ArtefactCli, ReportMakesEveryFormByteForByte) {
  constexpr std::pair<const char*, const char*> kForms[] = {
      {"json", "--json"},   {"csv", "--csv"},     {"markdown", "--markdown"},
      {"junit", "--junit"}, {"trace", "--trace"}, {"gbench", "--benchmark-json"}};
  std::vector<std::string> flags = {"--artefact", path("run.h5")};
  for (const auto& [format, flag] : kForms) {
    flags.insert(flags.end(), {flag, path(std::string("run.") + format)});
  }
  const Outcome ran = run(flags);
  ASSERT_EQ(ran.code, kAllWell) << ran.err << ran.out;
  for (const auto& [format, flag] : kForms) {
    const std::string written = read(std::string("run.") + format);
    ASSERT_GT(written.size(), 100u) << format;
    std::filesystem::remove(path(std::string("run.") + format));
    const Outcome made = opbench_with({"report", path("run.h5"), "--format", format});
    EXPECT_EQ(made.code, kAllWell) << made.err;
    EXPECT_EQ(made.out, written) << format;
  }
  EXPECT_THAT(files(), ElementsAre("run.h5"));
}

TEST_F(ArtefactCli, ReportMakesThePageByteForByte) {
  ASSERT_EQ(run({"--artefact", path("run.h5"), "--json", path("results.json")}).code, kAllWell);
  EXPECT_THAT(page_of("results.json"), AllOf(HasSubstr("<html"), HasSubstr("relu[64x33,fp32")));
  expect_page_without("results.json", "run.h5");
}

TEST_F(ArtefactCli, ReportMakesThePageOfAComparisonByteForByte) {
  const std::string npu = source_file("examples/dumps/npu.h5");
  const std::string gpu = source_file("examples/dumps/gpu.h5");
  ASSERT_EQ(opbench_with({"compare", npu, gpu, "-q", "-o", path("c.h5")}).code, kVerdictFailed);
  write("compare.json", opbench_with({"report", path("c.h5"), "--format", "json"}).out);
  EXPECT_THAT(page_of("compare.json"), AllOf(HasSubstr("softplus"), HasSubstr("error_map")));
  expect_page_without("compare.json", "c.h5");
}

TEST_F(ArtefactCli, PagesOfTwoRunsTellThemApart) {
  for (const char* name : {"a.h5", "b.h5"}) ASSERT_EQ(run({"--artefact", path(name)}).code, 0);
  const Outcome made =
      opbench_with({"report", path("a.h5"), path("b.h5"), "--html", path("page.html")});
  EXPECT_EQ(made.code, kAllWell) << made.err;
  EXPECT_THAT(read("page.html"), AllOf(HasSubstr("a.h5\""), HasSubstr("b.h5\"")));
}

TEST_F(ArtefactCli, ExplainsACaseInWords) {
  ASSERT_EQ(run({"--artefact", path("run.h5"), "--json", path("run.json")}).code, kAllWell);
  for (const char* file : {"run.h5", "run.json"}) {
    const Outcome one = explain("relu[64", file);
    EXPECT_EQ(one.code, kAllWell) << one.err;
    for (const char* text :
         {"relu[64x33,fp32", "  operator  relu\n", "passed", "  inside     100 % of the elements\n",
          "  time       ", "median of 3 samples", "again: "}) {
      EXPECT_THAT(one.out, HasSubstr(text));
    }
    EXPECT_THAT(one.out, Not(HasSubstr("relu[7")));
    EXPECT_EQ(one.out.find(" of the run\n") != std::string::npos, file == std::string("run.h5"))
        << "JSON has no time stamps";
    EXPECT_THAT(explain("", file).out, AllOf(HasSubstr("relu[7,fp16"), HasSubstr("2 cases; one")));
    const Outcome none = explain("conv", file);
    EXPECT_EQ(none.code, kNothingToJudge);
    EXPECT_THAT(none.err, HasSubstr("has no case 'conv'"));
  }
}

TEST_F(ArtefactCli, TwoRunsInOneTable) {
  for (const char* name : {"a.h5", "b.h5"}) {
    ASSERT_EQ(run({"--artefact", path(name), "--tensors"}).code, kAllWell);
  }
  const Outcome same = opbench_with({"compare", path("a.h5"), path("b.h5"), "-q"});
  EXPECT_EQ(same.code, kAllWell) << same.err << same.out;
  EXPECT_THAT(same.out, AllOf(HasSubstr("4 results in both: 0 worse"), HasSubstr("ratio"),
                              HasSubstr("relu[64x33,fp32"), HasSubstr("0.0e+00")));
  ASSERT_EQ(opbench_with({"--case", "relu[7,fp16]", "--variant", "native", "--artefact",
                          path("few.h5"), "--time", "0.002", "-q"})
                .code,
            kAllWell);
  const Outcome gone = opbench_with({"compare", path("few.h5"), path("a.h5"), "-q"});
  EXPECT_EQ(gone.code, kVerdictFailed);
  EXPECT_THAT(gone.out, HasSubstr("0 only in the first, 3 only in the second"));
  expect_one_line_error(
      opbench_with({"compare", path("a.h5"), path("b.h5"), "-q", "-o", path("c.h5")}), kBadInput,
      "-o is for dumps");
  EXPECT_THAT(files(), ElementsAre("a.h5", "b.h5", "few.h5"));
}

TEST_F(ArtefactCli, TensorsAreADump) {
  ASSERT_EQ(run({"--artefact", path("run.h5"), "--tensors"}).code, kAllWell);
  EXPECT_THAT(opbench_with({"show", path("run.h5")}).out,
              AllOf(HasSubstr("\n/relu/1"), Not(HasSubstr("\n/opbench"))));
  EXPECT_EQ(opbench_with({"judge", path("run.h5"), "-q"}).code, kAllWell);
}

TEST_F(ArtefactCli, AComparisonInOneFile) {
  const std::string npu = source_file("examples/dumps/npu.h5");
  const std::string gpu = source_file("examples/dumps/gpu.h5");
  const Outcome to_file = opbench_with({"compare", npu, gpu, "-q", "-o", path("c.h5")});
  EXPECT_EQ(to_file.code, kVerdictFailed) << to_file.err;
  EXPECT_THAT(files(), ElementsAre("c.h5"));
  const Outcome console = opbench_with({"report", path("c.h5")});
  EXPECT_EQ(console.out + "Results: " + path("c.h5") + "\n", to_file.out);
  EXPECT_THAT(opbench_with({"report", path("c.h5"), "--format", "json"}).out,
              HasSubstr("\"opbench_compare\": 2"));
  EXPECT_THAT(opbench_with({"report", path("c.h5"), "--format", "csv"}).out,
              HasSubstr("execution,operator"));
  expect_one_line_error(opbench_with({"report", path("c.h5"), "--format", "junit"}), kBadInput,
                        "a comparison has no form 'junit'");
  const Outcome words = explain("softplus/2", "c.h5");
  EXPECT_EQ(words.code, kAllWell) << words.err;
  EXPECT_THAT(words.out,
              AllOf(HasSubstr("introduced: by npu.h5: wrong for its own inputs; gpu.h5 is right"),
                    HasSubstr("Looks like: "), Not(HasSubstr("softmax"))));
  EXPECT_EQ(explain("none", "c.h5").code, kNothingToJudge);
}

TEST_F(ArtefactCli, ExplainsAJudgement) {
  const std::string npu = source_file("examples/dumps/npu.h5");
  ASSERT_EQ(opbench_with({"judge", npu, "--json", path("j.json"), "-q"}).code, kVerdictFailed);
  const Outcome guilty = explain("", "j.json");
  EXPECT_EQ(guilty.code, kAllWell) << guilty.err;
  EXPECT_THAT(guilty.out,
              AllOf(HasSubstr("1 GUILTY, 3 OK"), HasSubstr("\n  GUILTY   /softplus/2 fp32\n"),
                    HasSubstr("Looks like: wrong only where the input"), Not(HasSubstr("/mul"))));
  EXPECT_THAT(explain("mul", "j.json").out,
              AllOf(HasSubstr("OK       /mul/3 fp32\n"), HasSubstr(": right\n")));
  write("old.json",
        R"({"file": "x.h5", "guilty": 0, "carries": 1, "random": 0, "unknown": 0, "records":
      [{"path": "/mul/1", "verdict": "CARRIES", "dtype": "fp32", "outputs": []}]})");
  EXPECT_THAT(explain("", "old.json").out, HasSubstr("0 GUILTY, 1 OK,")) << "as earlier files say";
  EXPECT_EQ(explain("none", "j.json").code, kNothingToJudge);
  ASSERT_EQ(opbench_with({"judge", npu, npu, "--json", path("two.json"), "-q"}).code,
            kVerdictFailed);
  const std::string two = explain("softplus/2", "two.json").out;
  EXPECT_NE(two.find("/softplus/2 fp32\n"), two.rfind("/softplus/2 fp32\n")) << "of both dumps";
  write("bad.json", R"({"guilty": 0, "records": []})");
  expect_one_line_error(explain("", "bad.json"), kBadInput, "bad.json: the file has no '");
}

TEST_F(ArtefactCli, BadInputIsOneLine) {
  expect_one_line_error(run({"--artefact", "-"}), kBadInput, "--artefact writes HDF5");
  expect_one_line_error(run({"--tensors"}), kBadInput, "--tensors needs --artefact FILE");
  expect_one_line_error(run({"--artefact", path("x.h5"), "--tensors", "--dump", path("y.h5")}),
                        kBadInput, "--tensors and --dump write the same tensors");
  expect_one_line_error(run({"--artefact", path("x.h5"), "--dump", path("x.h5")}), kBadInput,
                        "--artefact");
  expect_one_line_error(explain("", "missing.h5"), kBadInput, "missing.h5");
  expect_one_line_error(explain("", std::filesystem::path(write("text", "no JSON")).filename()),
                        kBadInput, "text");
  const std::string npu = source_file("examples/dumps/npu.h5");
  expect_one_line_error(opbench_with({"report", npu, "--to", "words"}), kBadInput,
                        "not an artefact");
  expect_one_line_error(opbench_with({"report", npu}), kBadInput, "not an artefact");
  EXPECT_THAT(files(), ElementsAre("text")) << "nothing half-written";
  ASSERT_EQ(run({"--artefact", path("x.h5"), "--json", path("x.json")}).code, kAllWell);
  expect_one_line_error(opbench_with({"report", path("x.json"), "--format", "trace"}), kBadInput,
                        "does not say when samples began");
}

}  // namespace opbench
