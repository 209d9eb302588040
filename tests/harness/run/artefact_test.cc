#include "harness/run/artefact.h"

#include <gmock/gmock.h>

#include "tests/harness/run/results_text.h"
#include "tests/support/records.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ArtefactFile : public testing::Test, protected TempDir {
 protected:
  ArtefactFile() {
    Record timed = timed_record({10.0 / 3, 4, 1e-3});
    std::int64_t place = 0;
    for (Sample& sample : timed.times->samples) {
      ++place;
      sample.start_us = 1e3 * double(place) + 0.1;
      sample.duration_us = 7.7 * double(place);
      sample.iterations = 10 + place;
      sample.preemptions = place % 2;
    }
    run_.records = {record_of("relu[8,fp32]", "a \"quoted\" <name>"), timed, timed};
    run_.cases_run = 2;
  }

  std::string write(const std::string& name = "run.h5") const {
    DumpWriter writer(path(name), true);
    attach_results(writer, {"", kResultsVersion, "opbench --case x", {}, run_, {}});
    writer.finish();
    return path(name);
  }
  // Samples of `count` numbers each, except the last list.
  std::string write_samples(std::size_t count, std::size_t last, std::int64_t record = 1) const {
    DumpWriter writer(path("odd.h5"));
    const std::string json = results_text(run_);
    writer.attach("files/results.json", StoredType::i8, json.size(), json.data());
    const std::vector<double> reals(count, 1);
    const std::vector<std::int64_t> wholes(count, record);
    for (const char* name : {"start_us", "duration_us", "ns_per_call"}) {
      writer.attach(std::string("samples/") + name, StoredType::f64, count, reals.data());
    }
    writer.attach("samples/record", StoredType::i64, count, wholes.data());
    writer.attach("samples/iterations", StoredType::i64, count, wholes.data());
    writer.attach("samples/preemptions", StoredType::i64, last, wholes.data());
    writer.finish();
    return path("odd.h5");
  }

  RunResult run_;
};

std::string refusal_of(const std::string& path) {
  return refusal_by([&] { Artefact(path).results(); });
}

}  // namespace

TEST_F(ArtefactFile, GivesTheSameResults) {
  const std::string path = write();
  EXPECT_TRUE(Artefact::is_hdf5(path));
  Artefact artefact(path);
  EXPECT_THAT(artefact.files(), ElementsAre("results.json"));
  EXPECT_EQ(artefact.text("results.json"), results_text(run_));
  const ResultsFile results = artefact.results();
  EXPECT_EQ(results_text(results.run), results_text(run_));
  const auto& samples = results.run.records[1].times->samples;
  ASSERT_EQ(samples.size(), 3u);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& expected = run_.records[1].times->samples[i];
    EXPECT_EQ(samples[i].start_us, expected.start_us);
    EXPECT_EQ(samples[i].duration_us, expected.duration_us);
    EXPECT_EQ(samples[i].ns_per_call, expected.ns_per_call);
    EXPECT_EQ(samples[i].iterations, expected.iterations);
    EXPECT_EQ(samples[i].preemptions, expected.preemptions);
  }
}

TEST_F(ArtefactFile, TensorsAreADumpBesideIt) {
  const TensorDesc desc = describe(DType::fp16, {3, 700, 301});
  const std::vector<std::uint16_t> values(3 * 700 * 301, 0x3c00);  // 1
  {
    DumpWriter writer(path("run.h5"), true);
    writer.begin_record("relu", DeviceType::npu);
    writer.write_output("result", desc, values.data());
    attach_results(writer, {"", kResultsVersion, "opbench --case x", {}, run_, {}});
    writer.finish();
  }
  DumpFile dump(path("run.h5"));
  ASSERT_EQ(dump.records().size(), 1u) << "results are no operator";
  EXPECT_THAT(dump.strays(), ElementsAre());
  EXPECT_EQ(dump.attachments().size(), 7u);
  const DumpEntry& entry = dump.records()[0].entries[0];
  std::vector<float> read(values.size());
  dump.read(entry, {0, static_cast<std::int64_t>(read.size())}, read.data());
  EXPECT_THAT(read, testing::Each(1.0f));
  EXPECT_LT(std::filesystem::file_size(path("run.h5")), 100'000u) << "compressed";
  EXPECT_EQ(results_text(Artefact(path("run.h5")).results().run), results_text(run_));
}

TEST_F(ArtefactFile, NoOperatorIsCalledLikeIt) {
  DumpWriter writer(path("x.h5"));
  EXPECT_THAT(refusal_by([&] { writer.begin_record("opbench", DeviceType::cpu); }),
              HasSubstr("an operator cannot be dumped as 'opbench'"));
  EXPECT_THAT(refusal_by([&] { writer.attach("one", StoredType::i8, 0, nullptr); }),
              HasSubstr("'one' does not name an attachment"));
}

TEST_F(ArtefactFile, WhatIsNoneIsRefused) {
  {
    DumpWriter writer(path("dump.h5"));
    writer.begin_record("relu", DeviceType::cpu);
    writer.write_input_scalar("x", 1.0);
    writer.finish();
  }
  EXPECT_THAT(refusal_of(path("dump.h5")), HasSubstr("dump.h5: not an artefact: "));
  TempDir::write("text.h5", "text");
  EXPECT_FALSE(Artefact::is_hdf5(path("text.h5")));
  EXPECT_FALSE(Artefact::is_hdf5(path("missing.h5")));
  EXPECT_THAT(refusal_of(path("text.h5")), HasSubstr("not an HDF5 file"));
}

TEST_F(ArtefactFile, SamplesHaveToGoWithTheirResults) {
  EXPECT_THAT(refusal_of(write_samples(6, 5)), HasSubstr("lists have different lengths"));
  EXPECT_THAT(refusal_of(write_samples(5, 5)), HasSubstr("a number of records[1]"));
  EXPECT_THAT(refusal_of(write_samples(6, 6, 7)), HasSubstr("records[1] has other samples"));
  EXPECT_THAT(refusal_of(write_samples(0, 0)), HasSubstr("records[1] has other samples"));
}

TEST_F(ArtefactFile, FilesOfOtherTypesAreRefused) {
  const double number = 1;
  {
    DumpWriter writer(path("odd.h5"));
    writer.attach("files/results.json", StoredType::f64, 1, &number);
    writer.finish();
  }
  EXPECT_THAT(refusal_of(path("odd.h5")), HasSubstr("is not a file of bytes"));
  {
    DumpWriter writer(path("odd.h5"));
    attach_file(writer, "results.json", "{\"opbench\": 1");
    writer.finish();
  }
  EXPECT_THAT(refusal_of(path("odd.h5")), HasSubstr("odd.h5"));
  {
    DumpWriter writer(path("odd.h5"));
    attach_file(writer, "compare.json", "{}");
    writer.finish();
  }
  EXPECT_THAT(refusal_of(path("odd.h5")),
              HasSubstr("holds no results of a run; it holds compare.json"));
}

// A file that is cut anywhere, or has a changed byte, gives results or a one-line error.
TEST_F(ArtefactFile, DamageIsOneLine) {
  const std::string whole = read(std::filesystem::path(write()).filename().string());
  ASSERT_GT(whole.size(), 2000u);
  for (std::size_t i = 1; i <= 24; ++i) {
    TempDir::write("cut.h5", whole.substr(0, whole.size() * i / 25));
    std::string damaged = whole;
    damaged[whole.size() * i / 25] ^= 0x55;
    TempDir::write("damaged.h5", damaged);
    EXPECT_THAT(refusal_of(path("cut.h5")), AllOf(Not("accepted"), Not(HasSubstr("\n")))) << i;
    EXPECT_THAT(refusal_of(path("damaged.h5")), Not(HasSubstr("\n"))) << i;
  }
}

}  // namespace opbench
