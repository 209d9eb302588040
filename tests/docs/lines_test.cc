// Pastes README and docs/ into a shell, each from the top of the page. Every line of opbench must
// end within a minute with the expected exit code. No line may replace an earlier file of the user.
// Examples, `$ COMMAND` and the output below it, must give that output.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/docs/page_blocks.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

/// The files of a user who reads a page: their names on the pages, and the files of the tests that
/// stand for them.
const std::map<std::string, std::string> kSamples = {
    {"npu.h5", "examples/dumps/npu.h5"},
    {"gpu.h5", "examples/dumps/gpu.h5"},
    {"examples/dumps/npu.h5", "examples/dumps/npu.h5"},
    {"examples/dumps/gpu.h5", "examples/dumps/gpu.h5"},
    {"step0/rank0/dump.h5", "examples/dumps/npu.h5"},
    {"npu_dump/step0/dump.h5", "examples/dumps/npu.h5"},
    {"gpu_dump/step0/dump.h5", "examples/dumps/gpu.h5"},
    {"model.pt", "tests/data/arrays/torch.pt"},
    {"kernel_details.csv", "tests/data/profiles/kernel_details/alexnet_level1_rank0.csv"},
    {"op_statistic.csv", "tests/data/profiles/op_statistic/alexnet_level1_rank0.csv"},
    {"gpu.prof", "tests/data/profiles/traces/torch_autograd_cuda_SYNTHETIC.prof"},
    {"npu.prof", "tests/data/profiles/traces/torch_autograd_npu_SYNTHETIC.prof"},
    {"op_summary_slice_0.csv", "tests/data/profiles/op_summary/op_summary_ffts_910b.csv"},
    {"op_summary_slice_1.csv", "tests/data/profiles/op_summary/op_summary_ffts_910b.csv"},
    {"worker0.pt.trace.json.gz",
     "tests/data/profiles/traces/torch_kineto_2021_resnet50_one_step.json.gz"},
    {"plog-27441.log", "tests/data/profiles/host_logs/plog-27441_20230109110428123.log"},
    {"nohup.out", "tests/data/profiles/host_logs/nohup_recompile_new.out"},
    {"results.json", "results/samples/results.json"},
    {"today.json", "results/samples/results.json"},
    {"monday.json", "results/samples/results.json"},
    {"tuesday.json", "results/samples/results.json"},
    {"old.json", "results/samples/results.json"},
    {"report/compare.json", "results/samples/compare.json"},
    {"dump_dir/Conv2D.conv1.3.7.1670205071724946",
     "tests/data/msaccucmp_convert/nc1hwc0_all_tensors/in/Conv2D.scope_op.3.7.1670205071724946"},
    {"debug_dump/MatMul.fc_1.9.5.1670205071723000",
     "tests/data/msaccucmp_convert/overflow/in/MatMul.fc_1.9.5.1670205071723000"},
    {"debug_dump/Opdebug.Node_OpDebug.2.5.1670205071724000.2.0.0.0",
     "tests/data/msaccucmp_convert/overflow/in/"
     "Opdebug.Node_OpDebug.2.5.1670205071724000.2.0.0.0"},
};

/// Lines that are not run, by a part of their text, with the reason.
const std::map<std::string, std::string> kSkipped = {
    {"report --history", "reads what check --against has written"},
    {"check --baseline results.json --cases", "measures for minutes"},
    {"invariance --op all", "minutes: every variant there is"},
    {"--kernels", "needs a library or a Python file of the user"},
    {"--device torch:", "needs PyTorch on a device"},
    {"--shards", "needs the dumps of a whole job and its rules"},
    {"convert -d Conv2D", "needs a dump in FRACTAL_NZ"},
    {"trace_view.json", "the sample of a trace is compressed"},
    {"run.h5 --to csv", "reads what a run of another page has written"},
    {"CudnnConvolutionBackward", "is not in the sample"},
    {"11.O2", "minutes: a training step of a whole network"},
};

/// Exit codes other than 0, by the begin of a line. The sample has a planted fault.
const std::map<std::string, std::vector<int>> kCodes = {
    {"doctor", {0, 5}},
    {"compare", {0, 1}},
    {"judge", {1}},
    {"invariance examples/dumps/npu.h5", {1}},
    {"--load", {0, 1}},
    {"run --load", {0, 1}},
    {"run --case mul", {1}},
    {"judge npu.h5 --only", {4}},
    {"convert examples/dumps/npu.h5 -o convolutions.h5", {4}},
    {"overflow", {0, 1}},
    // Both files are the same sample here, and a result can be merged only once.
    {"report monday.json", {2}},
    {"--case", {0, 1}},
    {"convert npu.h5 -o failed.h5", {0, 2}},
};

std::vector<int> codes_of(const std::string& line) {
  std::vector<int> codes = {0};
  std::size_t longest = 0;
  for (const auto& [begin, allowed] : kCodes) {
    if (!line.starts_with(begin) || begin.size() < longest) continue;
    longest = begin.size();
    codes = allowed;
  }
  return codes;
}

bool is_skipped(const std::string& line) {
  for (const auto& [part, reason] : kSkipped) {
    if (line.find(part) != line.npos) return true;
  }
  return false;
}

/// The lines of opbench on a page and here documents, as input of a shell.
std::string script_of(const std::string& page) {
  std::string script;
  for (const std::string& block : page_blocks(page, "sh")) {
    std::istringstream in(std::regex_replace(block, std::regex(R"(\\\n)"), " "));
    bool is_document = false;
    for (std::string line; std::getline(in, line);) {
      const bool begins = line.find("<<'END'") != line.npos;
      if (begins || is_document || (line.starts_with("opbench ") && !is_skipped(line))) {
        script += line + '\n';
      }
      is_document = (is_document || begins) && line != "END";
    }
  }
  return script;
}

class PageLines : public testing::TestWithParam<std::string>, protected TempDir {
 protected:
  PageLines() {
    for (const auto& [name, source] : kSamples) {
      fs::create_directories(fs::path(path(name)).parent_path());
      fs::copy_file(source_file(source), path(name));
    }
    fs::create_directories(path("cache/opbench"));
    fs::copy_file(source_file("results/samples/results.json"), path("cache/opbench/last.json"));
    for (const char* name : {"cases", "tests"}) {
      fs::create_directory_symlink(source_file(name), path(name));
    }
    write("base/.keep", "");
    fs::create_symlink(program(), path("base/opbench"));
    // Runs are shortened. The test checks their output files, not their results.
    write("bin/opbench", R"(#!/bin/sh
case " $* " in
  *" network.yaml "*) more=--dry-run ;;  # minutes: all operators of a profile
  *" --check-overflow "* | *" --dry-run "* | *" --explain "*) more= ;;
  *" --time "*) more='--no-verify -q' ;;
  *) more='--time 0.0005 --repetitions 1 --no-verify -q' ;;
esac
case $1 in -* | run) ;; *) more= ;; esac
[ -z "$more" ] || echo shortened
timeout 60 "$OPBENCH" "$@" $more
code=$?
echo "$code $*" >> "$OPBENCH_LOG"
exit $code
)");
    fs::permissions(path("bin/opbench"), fs::perms::owner_all);
  }

  /// Runs a script and checks its exit codes and the files of the user.
  void paste(const std::string& script) const {
    write("work.sh", script);
    const Outcome outcome = shell("PATH='" + path("bin") + "':$PATH sh '" + path("work.sh") + "'",
                                  {.environment = {{"OPBENCH", program()},
                                                   {"OPBENCH_LOG", path("log")},
                                                   {"XDG_CACHE_HOME", path("cache")}},
                                   .directory = directory()});
    std::istringstream log(read("log"));
    for (std::string line; std::getline(log, line);) {
      const std::size_t space = line.find(' ');
      EXPECT_THAT(codes_of(line.substr(space + 1)), testing::Contains(std::stoi(line)))
          << line << '\n'
          << outcome.err;
    }
    for (const auto& [name, source] : kSamples) {
      EXPECT_TRUE(read(name) == text_of(source_file(source))) << name << " was replaced";
    }
  }
};

class PageExamples : public PageLines {};

std::string name_of(const testing::TestParamInfo<std::string>& page) {
  return std::regex_replace(fs::path(page.param).stem().string(), std::regex("[^a-zA-Z]"), "");
}

}  // namespace

TEST_P(PageLines, EndAsTheyShouldAndReplaceNothing) {
  const std::string script = script_of(text_of(source_file(GetParam())));
  ASSERT_NE(script, "");
  paste(script);
}

TEST_P(PageExamples, GiveTheOutputThatIsShown) {
  const std::vector<Example> examples = examples_of(text_of(source_file(GetParam())));
  ASSERT_FALSE(examples.empty());
  std::string script;
  for (const Example& example : examples) {
    script += fmt::format("( {} ) >output.{}\n", example.command, &example - examples.data());
  }
  paste(script);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    // A search takes longer on a busy machine.
    const std::string output = std::regex_replace(read(fmt::format("output.{}", i)),
                                                  std::regex(R"(\d+\.\d\d s\))"), "0.00 s)");
    if (output.starts_with("shortened")) continue;
    EXPECT_EQ(difference(output, examples[i].shown), "") << examples[i].command;
  }
}

INSTANTIATE_TEST_SUITE_P(Docs, PageLines,
                         testing::Values("README.md", "docs/case-files.md", "docs/cluster.md",
                                         "docs/contexts.md", "docs/convert.md", "docs/dumps.md",
                                         "docs/ingest.md", "docs/invariance.md", "docs/judge.md",
                                         "docs/load.md", "docs/minimise.md", "docs/overflow.md",
                                         "docs/report.md", "docs/scale.md", "docs/show.md"),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Docs, PageExamples,
                         testing::Values("docs/ingest.md", "docs/remedy.md", "docs/slow-network.md",
                                         "docs/wrong-numbers.md"),
                         name_of);

}  // namespace opbench
