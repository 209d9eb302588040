#include "tensor/isa.h"

#include <gmock/gmock.h>
#include <hwy/targets.h>

#include "tensor/error.h"
#include "tests/support.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Isa, BestIsUsedUnlessToldOtherwise) { EXPECT_EQ(current_isa(), supported_isas().front()); }

// current_isa asks a function that Highway's dispatcher chose; this asks the dispatcher's index.
TEST(Isa, SelectionTakesEffect) {
  std::size_t index = 0;
  on_every_isa([&] {
    const std::size_t chosen = hwy::GetChosenTarget().GetIndex();
    EXPECT_GT(chosen, index) << "worse targets have higher indices";
    index = chosen;
  });
  for (const std::string& isa : supported_isas()) {
    select_isa(isa);
    EXPECT_EQ(current_isa(), isa);
  }
  select_isa(supported_isas().front());
}

TEST(Isa, ErrorListsWhatIsSupported) {
  EXPECT_THAT([] { select_isa("mmx"); }, ThrowsMessage<Error>(HasSubstr(supported_isas().back())));
  EXPECT_THAT([] { select_isa(""); }, ThrowsMessage<Error>(HasSubstr(supported_isas().front())));
}

TEST(Isa, ListingLeavesTheSelectionAlone) {
  on_every_isa([] {
    const std::string selected = current_isa();
    supported_isas();
    EXPECT_EQ(current_isa(), selected);
  });
}

}  // namespace opbench
