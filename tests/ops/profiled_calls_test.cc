#include <gmock/gmock.h>

#include <set>

#include "ops/op_table.h"

namespace opbench {
namespace {

bool names_one_of(const ProfiledCall& one, const RecordedName& wanted) {
  const auto is_named = [&](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  return std::any_of(wanted.names.begin(), wanted.names.end(), [&](const std::string& name) {
    const std::string result = name.starts_with("output ") ? name.substr(7) : name;
    return is_named(one.inputs, name) || is_named(one.outputs, result);
  });
}

// Every name must be in a row of the operator table that finds its operands by these names.
TEST(ProfiledCalls, AreKnownToTheOperatorTable) {
  std::set<std::string> seen;
  for (const ProfiledCall& one : profiled_calls()) {
    for (const std::string& name : one.names) {
      EXPECT_TRUE(seen.insert(name).second) << name;
      for (const std::string& part : one.into) {
        const ProfiledCall* known = find_profiled_call(part);
        ASSERT_NE(known, nullptr) << part;
        EXPECT_EQ(known->inputs, one.inputs) << part;
      }
      if (!one.into.empty()) continue;
      const std::string_view other = one.each.empty() ? one.part_of : one.each;
      const auto rows = OpTable::profiled().find(other.empty() ? std::string_view(name) : other);
      if (!other.empty()) {
        EXPECT_FALSE(rows.empty()) << name;
        EXPECT_EQ(one.lists > 0, !one.each.empty()) << name;
        continue;
      }
      // Cases of views are built without the table.
      const bool is_view = name == "Slice" || name == "StridedSlice" || name == "AsStrided";
      const bool fits =
          is_view || std::any_of(rows.begin(), rows.end(), [&](const OpRow* row) {
            return row->uses.size() == 1 &&
                   std::all_of(row->uses[0].inputs.begin(), row->uses[0].inputs.end(),
                               [&](const RecordedName& wanted) {
                                 return wanted.is_optional || names_one_of(one, wanted);
                               });
          });
      EXPECT_TRUE(fits) << name;
    }
  }
}

TEST(ProfiledCalls, NameTheirTensors) {
  EXPECT_EQ(tensor_name({"x", "", "y"}, 0), "x");
  EXPECT_EQ(tensor_name({"x", "", "y"}, 1), "");
  EXPECT_EQ(tensor_name({"x", "", "y"}, 3), "");
  EXPECT_EQ(tensor_name({"x", "rest_*"}, 2), "rest_1");
  EXPECT_EQ(tensor_name({}, 0), "");
}

}  // namespace
}  // namespace opbench
