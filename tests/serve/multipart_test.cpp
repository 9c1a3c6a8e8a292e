#include "heed/serve/multipart.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

HttpRequest posted_form(std::string body, std::string type = "multipart/form-data; boundary=XX") {
  HttpRequest request;
  request.content_type = std::move(type);
  request.body = std::move(body);
  return request;
}

int status_of(const HttpRequest& request) {
  try {
    multipart_form(request);
  } catch (const HttpError& error) {
    return error.status();
  }
  return 200;
}

TEST(Multipart, ReadsFilesAndFields) {
  const HttpRequest request = posted_form(
      "preamble\r\n--XX\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a \\\"b\\\".jpg\"\r\n"
      "Content-Type: image/jpeg\r\n\r\n\xff\xd8\r\n--X \r\n\r\n--XX \t\r\ncontent-DISPOSITION: Form-Data; "
      "Name=model\r\n\r\n"
      "soft\r\n--XX\r\nContent-Disposition: form-data; filename=; name=image\r\n\r\n\r\n--XX--\r\nepilogue --XX");
  ASSERT_TRUE(is_multipart_form(request));
  const std::vector<FormPart> parts = multipart_form(request);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].name, "image");
  EXPECT_EQ(parts[0].file_name, "a \"b\".jpg");
  EXPECT_EQ(parts[0].type, "image/jpeg");
  EXPECT_TRUE(parts[0].is_file);
  EXPECT_EQ(parts[0].body, "\xff\xd8\r\n--X \r\n");  // the line end before the boundary is not data
  EXPECT_EQ(parts[1].name, "model");
  EXPECT_FALSE(parts[1].is_file);
  EXPECT_EQ(parts[1].body, "soft");
  EXPECT_TRUE(parts[2].is_file);
  EXPECT_EQ(parts[2].body, "");
}

TEST(Multipart, TakesQuotedBoundariesAndNoPreamble) {
  const HttpRequest request =
      posted_form("--a b:c\r\n\r\nx\r\n--a b:c--", "Multipart/Form-Data;charset=x; Boundary=\"a b:c\"");
  const std::vector<FormPart> parts = multipart_form(request);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].name, "");
  EXPECT_EQ(parts[0].body, "x");
  EXPECT_TRUE(multipart_form(posted_form("--XX--\r\n")).empty());
}

TEST(Multipart, ABoundaryInsideALineIsData) {
  const HttpRequest request = posted_form("--XX\r\n\r\na--XX\r\n--XXy\r\n--XX--z\r\n--XX--");
  ASSERT_EQ(multipart_form(request).size(), 1u);
  EXPECT_EQ(multipart_form(request)[0].body, "a--XX\r\n--XXy\r\n--XX--z");
}

TEST(Multipart, RefusesWhatIsNotWhole) {
  EXPECT_EQ(status_of(posted_form("--XX\r\n\r\nx\r\n--XX\r\n")), 400);  // no closing line
  EXPECT_EQ(status_of(posted_form("")), 400);
  EXPECT_EQ(status_of(posted_form("--XX\r\nno colon\r\n\r\nx\r\n--XX--")), 400);
  EXPECT_EQ(status_of(posted_form("--XX\r\nname: value\r\n--XX--")), 400);  // no empty line
  EXPECT_EQ(status_of(posted_form("--XX\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--XX--")), 400);
  EXPECT_EQ(status_of(posted_form("--XX\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--XX--")), 400);
  EXPECT_EQ(status_of(posted_form("--XX--", "multipart/form-data")), 400);
  EXPECT_EQ(status_of(posted_form("--XX--", "multipart/form-data; boundary=\"\"")), 400);
  std::string many;
  for (int i = 0; i < 1100; ++i) many += "--XX\r\n\r\nx\r\n";
  EXPECT_EQ(status_of(posted_form(many + "--XX--")), 413);
  EXPECT_FALSE(is_multipart_form(posted_form("", "application/json")));
  EXPECT_FALSE(is_multipart_form(posted_form("", "multipart/form-database")));
}

}  // namespace
}  // namespace heed
