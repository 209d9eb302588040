// Tests the rows of `opbench compare` for datasets that are not ordinary tensors.
#include <H5Cpp.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/csv.h"
#include "tests/support/program.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// A dataset. By default it is "/Op/1/output/y" with six fp32 elements in two rows.
struct Made {
  std::string path;
  std::map<std::string, int> attributes = {{"Type", 0}, {"DataType", 1}};
  H5::DataSpace space = [] {
    constexpr hsize_t kExtents[] = {2, 3};
    return H5::DataSpace(2, kExtents);
  }();
  bool is_filled = true;
  H5::PredType type = H5::PredType::IEEE_F32LE;
};

class CompareRows : public testing::Test, protected TempDir {
 protected:
  static void add(H5::H5File& file, const Made& made, int device) {
    H5::LinkCreatPropList parents;
    ASSERT_GE(H5Pset_create_intermediate_group(parents.getId(), 1), 0);
    const hid_t id = H5Dcreate2(file.getId(), made.path.c_str(), made.type.getId(),
                                made.space.getId(), parents.getId(), H5P_DEFAULT, H5P_DEFAULT);
    H5::DataSet dataset(id);
    H5Dclose(id);
    std::map<std::string, int> attributes = made.attributes;
    attributes["DeviceType"] = device;
    for (const auto& [name, value] : attributes) {
      dataset.createAttribute(name, H5::PredType::STD_I32LE, H5::DataSpace(H5S_SCALAR))
          .write(H5::PredType::NATIVE_INT, &value);
    }
    const float values[] = {1, 2, 3, 4, 5, 6};
    if (made.is_filled) dataset.write(values, H5::PredType::NATIVE_FLOAT);
    if (!attributes.contains("Type")) return;
    const int rank = std::max(made.space.getSimpleExtentNdims(), 0);
    const auto count = static_cast<hsize_t>(rank);
    std::vector<std::int64_t> stride(std::max<std::size_t>(count, 1), 1);
    if (rank == 2) stride[0] = 3;
    dataset.createAttribute("Stride", H5::PredType::STD_I64LE, H5::DataSpace(1, &count))
        .write(H5::PredType::NATIVE_INT64, stride.data());
  }

  void write(const char* name, const std::vector<Made>& all, int device) const {
    H5::H5File file(path(name), H5F_ACC_TRUNC);
    for (const Made& made : all) add(file, made, device);
  }

  void write_both(const std::vector<Made>& all) const {
    write("npu.h5", all, 10);
    write("gpu.h5", all, 1);
  }

  // Compares the dumps and writes to `out`.
  Outcome compare() const {
    return run_program(
        {"compare", "-m", path("npu.h5"), "-g", path("gpu.h5"), "-out", path("out"), "-q"});
  }

  std::vector<csv::Row> msaccucmp() const {
    for (const auto& file : fs::directory_iterator(path("out"))) {
      if (file.path().filename().string().starts_with("result_")) return csv::read(file.path());
    }
    ADD_FAILURE() << "no result_*.csv";
    return {};
  }

  // The tensors of compare.json as "path: verdict, reason".
  std::vector<std::string> reported() const {
    std::vector<std::string> lines;
    const nlohmann::json result = nlohmann::json::parse(read("out/compare.json"));
    for (const auto& tensor : result.at("tensors")) {
      const std::string reason = tensor["reason"].is_null() ? "" : tensor["reason"];
      lines.push_back(tensor["actual_path"].get<std::string>() + ": " +
                      tensor["verdict"].get<std::string>() + (reason.empty() ? "" : ", " + reason));
    }
    return lines;
  }
};

H5::DataSpace rank_17() {
  const std::vector<hsize_t> ones(17, 1);
  return {17, ones.data()};
}

TEST_F(CompareRows, StubsAndUnknownTypesAreInEveryReportOfOurs) {
  const std::map<std::string, int> nothing, odd = {{"Type", 99}, {"DataType", 1}};
  write_both({{"/Stub/1/output/y", nothing, H5::DataSpace(H5S_SCALAR), false},
              {"/Odd/2/output/y", odd},
              {"/Plain/3/output/y"}});
  const Outcome ran = compare();
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const std::string left =
      "npu.h5: no attribute Type: Ascend's dumper omits it for dtypes that it does not "
      "support (bf16, complex, quantised); no data was written";
  EXPECT_THAT(reported(), ElementsAre("/Stub/1/output/y: not compared, " + left,
                                      "/Odd/2/output/y: passed", "/Plain/3/output/y: passed"));
  EXPECT_THAT(read("out/compare.csv"), HasSubstr("/Stub/1/output/y"));
  EXPECT_THAT(read("out/compare.csv"), HasSubstr("/Odd/2/output/y"));
  EXPECT_THAT(ran.out, HasSubstr("/Stub/1/output/y"));
  EXPECT_THAT(ran.out, HasSubstr("attribute Type is 99"));
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("no attribute DataType"))) << "nothing was taken";
  // msaccucmp omits both.
  ASSERT_EQ(msaccucmp().size(), 2u);
  EXPECT_EQ(msaccucmp()[1][2], "/Plain/3/output/y");
}

TEST_F(CompareRows, WhatHasNoShapeHereIsOneRowThatSaysWhy) {
  const std::map<std::string, int> plain = Made().attributes;
  write_both({{"/Null/1/output/y", plain, H5::DataSpace(H5S_NULL), false},
              {"/Deep/2/output/y", plain, rank_17(), false},
              {"/Plain/3/output/y"}});
  EXPECT_EQ(compare().code, 3);
  const std::string null = "npu.h5: it has no extents (a null dataspace)",
                    deep = "npu.h5: a shape has 17 dimensions; at most 16 are allowed";
  EXPECT_THAT(reported(),
              ElementsAre("/Null/1/output/y: unread, " + null, "/Deep/2/output/y: unread, " + deep,
                          "/Plain/3/output/y: passed"));
  const auto rows = msaccucmp();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_THAT(rows[1], testing::Contains(null));
  EXPECT_THAT(rows[2], testing::Contains(deep));
}

TEST_F(CompareRows, OneSideWithoutAShapeIsNotMissing) {
  const std::map<std::string, int> plain = Made().attributes;
  write("npu.h5", {{"/Deep/2/output/y", plain, rank_17(), false}}, 10);
  write("gpu.h5", {{"/Deep/2/output/y"}}, 1);
  EXPECT_EQ(compare().code, 3);
  const std::string deep = "npu.h5: a shape has 17 dimensions; at most 16 are allowed";
  EXPECT_THAT(reported(), ElementsAre("/Deep/2/output/y: unread, " + deep));
  ASSERT_EQ(msaccucmp().size(), 2u);
  EXPECT_EQ(msaccucmp()[1].back(), deep);
}

// h5py returns one element as a numpy scalar, which has no byte order.
TEST_F(CompareRows, OneElementWithoutAxesIsNamedAsNumpysScalar) {
  const std::map<std::string, int> plain = Made().attributes;
  write_both(
      {{"/A/1/output/scalar", plain, H5::DataSpace(H5S_SCALAR), true, H5::PredType::IEEE_F32BE},
       {"/A/1/output/tensor", plain, Made().space, true, H5::PredType::IEEE_F32BE}});
  EXPECT_EQ(compare().code, 0);
  const auto rows = msaccucmp();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1][4], "float32");
  EXPECT_EQ(rows[2][4], ">f4");
}

// An input group turns a dump of load mode into an ordinary dump.
TEST_F(CompareRows, AnEmptyInputGroupMeansThatCallsPairByTheirOrder) {
  write("npu.h5", {{"/A/12/output/y"}}, 10);
  write("gpu.h5", {{"/A/3/input/x"}, {"/A/3/output/y"}}, 1);
  EXPECT_EQ(compare().code, 4) << "nothing has the same number";
  H5::H5File(path("npu.h5"), H5F_ACC_RDWR).createGroup("/A/12/input");
  fs::remove_all(path("out"));
  EXPECT_EQ(compare().code, 0);
  ASSERT_EQ(msaccucmp().size(), 3u) << "and the input that only one has";
  EXPECT_EQ(msaccucmp()[1][3], "/A/3/output/y");
}

}  // namespace
}  // namespace opbench
