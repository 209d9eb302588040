#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tensor/fill.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;
using enum DistributionKind;

TEST(Distribution, TextRoundTrips) {
  EXPECT_EQ(to_string(Distribution{}), "normal(0,1)");
  EXPECT_EQ(to_string(Distribution{permutation}), "permutation");
  EXPECT_EQ(to_string(Distribution{constant, -2.5}), "constant(-2.5)");
  for (const Distribution& d :
       {Distribution{normal, 0.1, 2}, Distribution{uniform, -1e-3, 1e10},
        Distribution{integers, -5, 7}, Distribution{permutation}, Distribution{constant, 1.0 / 3},
        Distribution{arange, 1, -0.5}, Distribution{special}}) {
    EXPECT_EQ(parse_distribution(to_string(d)), d) << to_string(d);
  }
}

TEST(Distribution, BareNamesHaveDefaults) {
  EXPECT_EQ(parse_distribution("normal"), (Distribution{normal, 0, 1}));
  EXPECT_EQ(parse_distribution("uniform"), (Distribution{uniform, 0, 1}));
  EXPECT_EQ(parse_distribution("integers"), (Distribution{integers, 0, 9}));
  EXPECT_EQ(parse_distribution("constant"), (Distribution{constant, 0, 1}));
  EXPECT_EQ(parse_distribution("arange"), (Distribution{arange, 0, 1}));
  EXPECT_EQ(parse_distribution("uniform( -1, 1 )"), (Distribution{uniform, -1, 1}));
}

TEST(Distribution, ErrorListsWhatIsAllowed) {
  for (const char* text : {"", "gauss", "normal(", "normal()", "normal(1)", "normal(1,2,3)",
                           "normal(a,b)", "normal(0,1", "normal(0,1)x", "permutation()",
                           "constant(1,2)", "constant()", "Normal", "special(1)", "uniform(0 1)"}) {
    EXPECT_THAT([&] { parse_distribution(text); },
                ThrowsMessage<Error>(HasSubstr("allowed: normal(mean,deviation)")))
        << text;
  }
}

TEST(Distribution, ParametersAreChecked) {
  for (const char* text : {"normal(0,-1)", "normal(nan,1)", "normal(0,inf)", "uniform(1,0)",
                           "uniform(-1e308,1e308)", "integers(2,1)", "integers(0.2,0.8)",
                           "integers(0,1e17)", "constant(inf)", "arange(0,nan)"}) {
    EXPECT_THROW(parse_distribution(text), Error) << text;
  }
  EXPECT_NO_THROW(parse_distribution("normal(0,0)"));
  EXPECT_NO_THROW(parse_distribution("uniform(1,1)"));
  EXPECT_NO_THROW(parse_distribution("integers(-9007199254740992,9007199254740992)"));
}

}  // namespace opbench
