#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/serve/work.h"
#include "serve/heard.h"
#include "serve/running_server.h"

// Work for clients that leave in the middle of it: it ends at the next step, wherever that is.

namespace heed {
namespace {

using Json = nlohmann::json;

class Leaving : public testing::Test {
 protected:
  // The steps of the work, at each of which the client has left once.
  int steps_of_explain(const Json& body, bool stream = false) {
    HttpRequest request;
    request.body = body.dump();
    if (stream) request.accept = "text/event-stream";
    return checked(test::leave_at_every_step(
        [&](auto reply) { return explain_work(model_, explain_request(request, {}), {}, {}, reply); }));
  }
  int steps_of_verb(const Json& body) {
    HttpRequest request;
    request.body = body.dump();
    return checked(
        test::leave_at_every_step([&](auto reply) { return verb_work(model_, verb_request(request), {}, {}, reply); }));
  }
  static int checked(const std::pair<int, std::string>& found) {
    EXPECT_EQ(found.second, "");
    return found.first;
  }

  TemporaryFolder folder_;
  std::shared_ptr<ServedModel> model_ =
      std::make_shared<ServedModel>(ModelSource{"t", test::make_transformer(folder_.path(), "t")}, 1);
};

TEST_F(Leaving, EndsASearchAtEveryWord) {
  EXPECT_GE(steps_of_verb({{"texts", {"a b c", "d e"}}}), 2);
  const int plain = steps_of_explain({{"text", "a b c"}});
  EXPECT_GE(plain, 2);
  EXPECT_EQ(steps_of_explain({{"text", "a b c"}, {"attentions", true}}), plain + 1);
  EXPECT_GT(steps_of_explain({{"text", "a b c"}}, true), plain);  // and the draft
}

TEST_F(Leaving, EndsTheMeasuringOfTrustInTheMiddle) {
  const Json given{{"text", "a b c d e f g h i j"}, {"target", "a b c d e f g h i j a b c d e f g h i j"}};
  Json trusted = given;
  trusted["trust"] = true;
  // The gradient, one word after the other left out, some left out, some at random: each in batches.
  EXPECT_GE(steps_of_explain(trusted), steps_of_explain(given) + 8);
}

}  // namespace
}  // namespace heed
