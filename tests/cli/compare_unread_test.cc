// `opbench compare` over unreadable data: it must not succeed, and it must end.
#include <H5Cpp.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int kCpu = 0, kCuda = 1, kNpu = 10;

/// Attributes of a float32 tensor as Ascend's dumper writes them.
void describe_tensor(const H5::DataSet& dataset, int device, int type,
                     const std::vector<std::int64_t>& stride) {
  const auto set = [&](const char* name, int value) {
    dataset.createAttribute(name, H5::PredType::STD_I32LE, H5::DataSpace(H5S_SCALAR))
        .write(H5::PredType::NATIVE_INT, &value);
  };
  set("DeviceType", device);
  set("DataType", 1);
  set("FormatType", 0);
  set("Type", type);
  const hsize_t count = stride.size();
  dataset.createAttribute("Stride", H5::PredType::STD_I64LE, H5::DataSpace(1, &count))
      .write(H5::PredType::NATIVE_INT64, stride.data());
}

class Unread : public testing::Test, protected TempDir {
 protected:
  // Adds the values 1, 2, .. 100, times `factor`, in chunks of 10 with checksums.
  void add(H5::H5File& file, const std::string& op, int device, float factor = 1,
           int type = 0) const {
    for (const std::string& group : {"/" + op, "/" + op + "/1", "/" + op + "/1/output"}) {
      file.createGroup(group);
    }
    std::vector<float> values(100);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = factor * float(i + 1);
    const hsize_t extent = values.size(), chunk = 10;
    H5::DSetCreatPropList properties;
    properties.setChunk(1, &chunk);
    properties.setFletcher32();
    H5::DataSet dataset = file.createDataSet("/" + op + "/1/output/y", H5::PredType::IEEE_F32LE,
                                             H5::DataSpace(1, &extent), properties);
    describe_tensor(dataset, device, type, {1});
    dataset.write(values.data(), H5::PredType::NATIVE_FLOAT);
  }

  void make_pair(float factor_of_second = 1) const {
    for (const auto& [name, device] : {std::pair("npu.h5", kNpu), std::pair("gpu.h5", kCuda)}) {
      H5::H5File file(path(name), H5F_ACC_TRUNC);
      add(file, "First", device);
      add(file, "Second", device, device == kNpu ? factor_of_second : 1);
    }
  }

  void overwrite(const std::string& name, std::size_t place, char byte) const {
    std::fstream file(path(name), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(place));
    file.put(byte);
  }

  // Damages values 21 to 24 of the first tensor. Only the checksum shows the damage.
  void damage_first(const std::string& name) const {
    const std::string bytes = read(name);
    const float run[] = {21, 22, 23, 24};
    const std::size_t place =
        bytes.find(std::string_view(reinterpret_cast<const char*>(run), sizeof run));
    ASSERT_NE(place, bytes.npos);
    overwrite(name, place, static_cast<char>(bytes[place] ^ 1));
  }

  Outcome compare(std::vector<std::string> more = {}) const {
    std::vector<std::string> args = {"compare", "-q", path("npu.h5"), path("gpu.h5")};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(std::move(args));
  }
};

}  // namespace

TEST_F(Unread, IsNeverASuccess) {
  make_pair();
  EXPECT_EQ(compare().code, 0);
  damage_first("npu.h5");
  for (const char* fail_on : {"any", "first", "none"}) {
    const Outcome ran = compare({"--fail-on", fail_on});
    EXPECT_EQ(ran.code, 3) << fail_on;
    EXPECT_THAT(ran.out, StartsWith("UNREAD 1 of 2: ")) << fail_on;
    EXPECT_THAT(ran.out, HasSubstr("Fletcher32"));
    EXPECT_THAT(ran.out, HasSubstr("1 tensor compared: 1 passed, 0 failed, 0 mistrusted; 0 not "
                                   "compared; 1 unread"));
    EXPECT_THAT(ran.err,
                StartsWith("opbench: 1 tensor could not be read, first /First/1/output/y: "));
  }
  const Outcome ran = compare({"-o", path("out")});
  EXPECT_EQ(ran.code, 3);
  const Json result = Json::parse(read("out/compare.json"));
  EXPECT_EQ(result["verdict"], "unread");
  EXPECT_EQ(result["counts"]["unread"], 1);
  EXPECT_EQ(result["tensors"][0]["verdict"], "unread");
  EXPECT_EQ(result["tensors"][1]["verdict"], "passed");
}

TEST_F(Unread, GivesWayToAFailure) {
  make_pair(7);
  damage_first("gpu.h5");
  const Outcome ran = compare();
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, StartsWith("FAILED: "));
  EXPECT_THAT(ran.out, HasSubstr("\nUNREAD 1 of 2 tensors\n"));
}

// The content of a damaged group is not known. It may have held the partner.
TEST_F(Unread, ADamagedGroupHidesItsTensors) {
  make_pair();
  haddr_t place = 0;
  {
    const H5::H5File file(path("npu.h5"), H5F_ACC_RDONLY);
    H5O_info_t info{};
    ASSERT_GE(H5Oget_info_by_name2(file.getId(), "/Second/1", &info, H5O_INFO_BASIC, H5P_DEFAULT),
              0);
    place = info.addr;
  }
  overwrite("npu.h5", place, '\x7f');  // the version in the header
  const Outcome ran = compare();
  EXPECT_EQ(ran.code, 3) << ran.out;
  EXPECT_THAT(ran.out, StartsWith("UNREAD 1 of 2: "));
  EXPECT_THAT(ran.out, HasSubstr("only in gpu.h5; parts of npu.h5 are damaged"));
}

TEST_F(Unread, MoreElementsThanAllowedAreLeftAlone) {
  make_pair();
  const Outcome ran = compare({"--max-elements", "99"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.out, HasSubstr("2 tensors: 100 elements; --max-elements allows 99"));
  EXPECT_EQ(compare({"--max-elements", "100"}).code, 0);
  EXPECT_EQ(compare({"--max-elements", "0"}).code, 2);
}

// The dataset declares 2^50 elements and stores a chunk of 1,024.
TEST_F(Unread, AClaimFarBeyondWhatIsStoredEndsAtOnce) {
  for (const auto& [name, device] : {std::pair("npu.h5", kNpu), std::pair("gpu.h5", kCuda)}) {
    H5::H5File file(path(name), H5F_ACC_TRUNC);
    add(file, "First", device);
    for (const char* group : {"/Big", "/Big/2", "/Big/2/output"}) file.createGroup(group);
    const hsize_t extent = hsize_t{1} << 50, chunk = 1024, some = 10;
    H5::DSetCreatPropList properties;
    properties.setChunk(1, &chunk);
    const H5::DataSpace space(1, &extent);
    H5::DataSet dataset =
        file.createDataSet("/Big/2/output/y", H5::PredType::IEEE_F32LE, space, properties);
    describe_tensor(dataset, device, 0, {1});
    const hsize_t start = 0;
    space.selectHyperslab(H5S_SELECT_SET, &some, &start);
    const float ones[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    dataset.write(ones, H5::PredType::NATIVE_FLOAT, H5::DataSpace(1, &some), space);
  }
  const Outcome ran = compare();
  EXPECT_EQ(ran.code, 3) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("1125899906842624 elements of 4 bytes are declared"));
}

// Type 42 has no meaning. The tensor is wrong by a factor of 7 and must still have a row.
TEST_F(Unread, AnUnknownTypeIsATensorAllTheSame) {
  for (const auto& [name, device] : {std::pair("npu.h5", kNpu), std::pair("gpu.h5", kCuda)}) {
    H5::H5File file(path(name), H5F_ACC_TRUNC);
    add(file, "First", device, device == kNpu ? 7.f : 1.f, 42);
  }
  const Outcome ran = compare();
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("attribute Type is 42, which has no meaning"));
}

// The tensor is transposed, so every panel needs every chunk. The comparison would take minutes.
TEST_F(Unread, SignalsEndIt) {
  constexpr hsize_t kExtent = 12000;
  for (const char* name : {"npu.h5", "gpu.h5"}) {
    H5::H5File file(path(name), H5F_ACC_TRUNC);
    for (const char* group : {"/op", "/op/1", "/op/1/output"}) file.createGroup(group);
    const hsize_t extents[] = {kExtent, kExtent}, chunk[] = {64, kExtent};
    H5::DSetCreatPropList properties;
    properties.setChunk(2, chunk);
    properties.setDeflate(1);
    H5::DataSet dataset = file.createDataSet("/op/1/output/y", H5::PredType::IEEE_F32LE,
                                             H5::DataSpace(2, extents), properties);
    describe_tensor(dataset, kCpu, 0, {1, static_cast<std::int64_t>(kExtent)});
    const std::vector<float> ones(kExtent * kExtent, 1);
    dataset.write(ones.data(), H5::PredType::NATIVE_FLOAT);
  }
  for (const int signal : {SIGTERM, SIGHUP}) {
    Process process({program(), "compare", "-v", path("npu.h5"), path("gpu.h5")});
    ASSERT_TRUE(process.has_told("comparing"));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // until it compares
    const auto start = std::chrono::steady_clock::now();
    process.send(signal);
    const Outcome ran = process.wait();
    // The documentation promises 1 s. The limit of 5 s allows for a busy machine. The whole run
    // takes 30 s.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("PARTIAL"));
  }
}

}  // namespace opbench
