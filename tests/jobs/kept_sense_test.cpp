#include "heed/jobs/kept_sense.h"

#include <gtest/gtest.h>

#include <thread>

#include "heed/base/file.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

// The bytes of an input, times a factor that it knows.
class Letters final : public Sense {
 public:
  explicit Letters(Real factor, std::string settings = "") : factor_(factor), settings_(std::move(settings)) {}
  Index width() const override { return 2; }
  Featured operator()(const Value& value) const override { return sensed(Kind::image, value); }
  Featured sensed(Kind, const Value& value) const override {
    require(*value.bytes != "bad", "{}: it cannot be seen", value.text);
    const Index length = static_cast<Index>(value.bytes->size());
    Tensor features(Shape{length, 2});
    for (Index i = 0; i < features.size(); ++i)
      features.data()[i] = factor_ * static_cast<Real>((*value.bytes)[static_cast<std::size_t>(i / 2)]);
    return {.features = features, .rows = 1, .columns = length, .frames = {0.5, 0.25}, .preview = "data:"};
  }
  std::string settings() const override { return settings_; }
  std::vector<NamedTensor> knowledge() const override { return {{"factor", Tensor::scalar(factor_)}}; }

 private:
  Real factor_;
  std::string settings_;
};

Value input(const std::string& bytes) { return {.text = "x", .bytes = std::make_shared<const std::string>(bytes)}; }

class KeptSenses : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "x.features"; }
  KeptSense open(Real factor = 1) const { return KeptSense(std::make_shared<const Letters>(factor), file()); }
  // How many of the texts had to be computed; all must be right.
  Index computed(const std::vector<std::string>& texts, Real factor = 1) const {
    const KeptSense sense = open(factor);
    for (const std::string& text : texts) {
      const Featured got = sense.sensed(Kind::image, input(text)), expected = Letters(factor)(input(text));
      EXPECT_EQ(got.features.shape(), expected.features.shape());
      EXPECT_TRUE(
          std::equal(got.features.values().begin(), got.features.values().end(), expected.features.values().begin()));
      EXPECT_EQ(got.columns, expected.columns);
      EXPECT_EQ(got.frames.step, 0.5);
      EXPECT_EQ(got.frames.margin, 0.25);
    }
    sense.end_progress();
    return sense.computed();
  }
  TemporaryFolder folder_;
};

const std::vector<std::string> kTexts = {"a cat", "a dog and a ball", "", std::string(5000, 'q')};

TEST_F(KeptSenses, ComputeNothingTwice) {
  EXPECT_EQ(computed(kTexts), 4);
  EXPECT_EQ(computed(kTexts), 0);
  EXPECT_EQ(computed({"a cat", "a cat", "a rat", "a rat"}), 1);  // a changed input is another one
}

TEST_F(KeptSenses, GiveViewsThatShareTheirMemoryAndOutliveThem) {
  Tensor one, other;
  {
    const KeptSense sense = open();
    one = sense.sensed(Kind::image, input("abc")).features;
    other = sense.sensed(Kind::image, input("abc")).features;
    EXPECT_EQ(one.data(), other.data());
    EXPECT_TRUE(sense.sensed(Kind::image, input("abc")).preview.empty());
  }
  EXPECT_EQ(one.at({2, 1}), 'c');
}

TEST_F(KeptSenses, ComputeAnewWhatADifferentSenseMade) {
  EXPECT_EQ(computed(kTexts, 1), 4);
  EXPECT_EQ(computed(kTexts, 2), 4);
  EXPECT_EQ(computed(kTexts, 2), 0);
  const KeptSense other(std::make_shared<const Letters>(Real{2}, "of another kind"), file());
  other.sensed(Kind::image, input(kTexts[0]));
  EXPECT_EQ(other.computed(), 1);
  other.end_progress();
}

TEST_F(KeptSenses, ComputeAnewWhatIsCutOffOrDamaged) {
  computed(kTexts);
  const auto size = std::filesystem::file_size(file());
  std::filesystem::resize_file(file(), size - 100);  // in the last record
  EXPECT_EQ(computed(kTexts), 1);
  EXPECT_EQ(computed(kTexts), 0);
  EXPECT_EQ(std::filesystem::file_size(file()), size);

  std::string bytes = read_file(file());
  bytes[bytes.size() - 1000] ^= 1;  // a number of the last
  write_file(file(), bytes);
  EXPECT_EQ(computed(kTexts), 1);
  bytes = read_file(file());
  bytes[64 + 3] ^= 1;  // the mark of the first record: nothing behind it can be found
  write_file(file(), bytes);
  EXPECT_EQ(computed(kTexts), 4);
  EXPECT_EQ(computed(kTexts), 0);
}

TEST_F(KeptSenses, EveryLengthOfAFileThatWasCutIsGood) {
  computed({"a cat", "a dog"});
  const std::string whole = read_file(file());
  const std::size_t filling = 24;  // behind the last numbers: nothing is lost with it
  for (std::size_t length = 0; length < whole.size() - filling; length += 13) {
    write_file(file(), whole.substr(0, length));
    EXPECT_GE(computed({"a cat", "a dog"}), 1) << length;
    EXPECT_EQ(computed({"a cat", "a dog"}), 0) << length;
  }
}

TEST_F(KeptSenses, LeaveFilesOfOthersAlone) {
  write_file(file(), "my notes");
  EXPECT_EQ(message_of([&] { open(); }), file().string() + ": it is no file of features, and is left as it is");
  EXPECT_EQ(read_file(file()), "my notes");
}

TEST_F(KeptSenses, ShareAFileAsFarAsOneMayWrite) {
  computed({"a cat"});
  const KeptSense first = open(), second = open();
  first.sensed(Kind::image, input("a dog"));
  second.sensed(Kind::image, input("a cat"));  // there already
  EXPECT_EQ(second.computed(), 0);
  second.sensed(Kind::image, input("a rat"));  // not kept: the first writes
  second.sensed(Kind::image, input("a rat"));
  EXPECT_EQ(second.computed(), 2);
  first.end_progress(), second.end_progress();
}

TEST_F(KeptSenses, KeepNoErrors) {
  const KeptSense sense = open();
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(message_of([&] { sense.sensed(Kind::image, input("bad")); }), "x: it cannot be seen");
  EXPECT_EQ(sense.computed(), 0);
}

TEST_F(KeptSenses, ThreadsMayAskAtOnce) {
  const KeptSense sense = open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&sense, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string text = std::to_string((i + 7 * t) % 60);
        const Featured got = sense.sensed(Kind::image, input(text));
        EXPECT_EQ(got.features.at({0, 0}), text[0]);
      }
    });
  for (std::thread& thread : threads) thread.join();
  sense.end_progress();
  EXPECT_EQ(computed({"0", "1", "30"}), 0);
}

}  // namespace
}  // namespace heed
