// SPDX-License-Identifier: MIT
#include <keel/policy/json.hpp>

#include <support/test.hpp>

namespace {

using keel::policy::json_text;
using keel::policy::utf8_length;

} // namespace

TEST_CASE("policy: a text is JSON between quotes, with what JSON reserves escaped") {
  CHECK(json_text("") == R"("")");
  CHECK(json_text("eta") == R"("eta")");
  CHECK(json_text(R"(a "b" \c)") == R"("a \"b\" \\c")");
  CHECK(json_text("a\nb\t\x7f") == R"("a\u000ab\u0009\u007f")");
  CHECK(json_text(std::string_view{"\0", 1}) == R"("\u0000")");
}

TEST_CASE("policy: characters of UTF-8 stay, and other bytes become question marks, one each") {
  CHECK(json_text("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\xa2") == "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\xa2\"");
  CHECK(json_text("\xff|\x80|\xc3") == R"("?|?|?")");
  CHECK(json_text("\xe2\x82|") == R"("??|")");
}

TEST_CASE("policy: the length of a character is that of RFC 3629, and none is too long or beyond Unicode") {
  CHECK(utf8_length("a", 0) == 1);
  CHECK(utf8_length("\xc2\x80", 0) == 2);
  CHECK(utf8_length("\xe0\xa0\x80", 0) == 3);
  CHECK(utf8_length("\xed\x9f\xbf", 0) == 3);
  CHECK(utf8_length("\xee\x80\x80", 0) == 3);
  CHECK(utf8_length("\xf0\x90\x80\x80", 0) == 4);
  CHECK(utf8_length("\xf4\x8f\xbf\xbf", 0) == 4);
  CHECK(utf8_length("\xc1\xbf", 0) == 0);         // one byte would do
  CHECK(utf8_length("\xe0\x9f\xbf", 0) == 0);     // two would
  CHECK(utf8_length("\xf0\x8f\xbf\xbf", 0) == 0); // three would
  CHECK(utf8_length("\xed\xa0\x80", 0) == 0);     // a surrogate
  CHECK(utf8_length("\xf4\x90\x80\x80", 0) == 0); // after the last one
  CHECK(utf8_length("\xf5\x80\x80\x80", 0) == 0);
  CHECK(utf8_length("\xf0\x9f\x9a", 0) == 0); // cut off
  CHECK(utf8_length("\xf0\x9f\x9a|", 0) == 0);
  CHECK(utf8_length("\x80", 0) == 0);
}
