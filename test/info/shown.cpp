// SPDX-License-Identifier: MIT
#include "../../impl/info/shown.hpp"

#include <doctest/doctest.h>

#include <string>

using keel::info::shown, keel::info::utf8_length;

TEST_CASE("info: characters of UTF-8 are told from bytes that are none") {
  struct {
    char const* text;
    std::size_t length;
  } const known[]{{"a", 1},
                  {"\x7f", 1},
                  {"\xc3\xbc", 2},
                  {"\xe2\x82\xac", 3},
                  {"\xf0\x9f\x98\x80", 4},
                  {"\x80", 0},
                  {"\xc1\x81", 0},
                  {"\xe0\x9f\x80", 0},
                  {"\xed\xa0\x80", 0},
                  {"\xf0\x8f\x80\x80", 0},
                  {"\xf4\x90\x80\x80", 0},
                  {"\xf5\x80\x80\x80", 0},
                  {"\xc3", 0},
                  {"\xe2\x82", 0},
                  {"\xf0\x9f\x98", 0},
                  {"\xc3(", 0},
                  {"\xff", 0}};
  for (auto const& k : known) {
    CAPTURE(shown(k.text));
    CHECK(utf8_length(k.text, 0) == k.length);
  }
}

TEST_CASE("info: what a terminal obeys and what is no UTF-8 is escaped, what is long is cut") {
  CHECK(shown("plain \xc3\xbc") == "plain \xc3\xbc");
  CHECK(shown("\x1b[31m\n\x7f\xc2\x9b\xff") == "\\x1b[31m\\x0a\\x7f\\xc2\\x9b\\xff");
  CHECK(shown(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(shown(std::string(80, 'x')) == std::string(80, 'x'));
  CHECK(shown(std::string(81, 'x')) == std::string(80, 'x') + "...");
  CHECK(shown("\xc3\xbc\xc3\xbc\xc3\xbc", 2) == "\xc3\xbc\xc3\xbc...");
}
