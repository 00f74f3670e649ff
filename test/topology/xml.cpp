// SPDX-License-Identifier: MIT
/// @file
/// Which texts hwloc is shown: each rule with a text that keeps it and texts that break it.
#include <keel/impl/topology/xml_rules.hpp>

#include <support/test.hpp>

using keel::topology::detail::why_not_a_topology, keel::topology::detail::read_set, keel::topology::id_set;

namespace {

std::string const sets_of_one = R"( cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1")";
std::string const sets_of_two = R"( cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1")";
std::string const sets_of_other = R"( cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1")";

std::string object(std::string const& type, std::string const& rest, std::string const& inside = "") {
  return "<object type=\"" + type + "\"" + rest + ">" + inside + "</object>";
}
std::string const one_memory = object("NUMANode", " os_index=\"0\"" + sets_of_two);
std::string const unit = object("PU", " os_index=\"0\"" + sets_of_one);
std::string const other_unit = object("PU", " os_index=\"1\"" + sets_of_other);
std::string const units = unit + other_unit;

std::string document(std::string const& inside, std::string const& before = "<topology version=\"2.0\">") {
  return before + inside + "</topology>";
}
/// A machine of two hardware threads and one memory, with `inside` in it.
std::string machine(std::string const& inside, std::string const& cores = units) {
  return document(object("Machine", sets_of_two, one_memory + cores + inside));
}

void refused(std::string const& text, std::string_view words) {
  auto const why = why_not_a_topology(text);
  CAPTURE(text);
  CAPTURE(why);
  CHECK(why.find(words) != std::string::npos);
}
void taken(std::string const& text) {
  CAPTURE(text);
  CHECK(why_not_a_topology(text) == "");
}

} // namespace

TEST_CASE("topology: sets are read as hwloc writes them") {
  for (char const* bad : {"", ",", ",0x1", "0x", "1", "0xg", "0x1 ", "0x100000000", "0x1,1", "x"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_set(bad));
  }
  CHECK(read_set("0x0,0x0") == id_set{});
  CHECK(read_set("0x0,0x3") == id_set{0, 1});
  CHECK(read_set("0x80000001,0x2") == id_set{1, 32, 63});
  CHECK(read_set("0x1,") == id_set{32}); // an empty word is zero
  CHECK(read_set("0x1,,0x0") == id_set{64});
  std::string longest = "0x1";
  for (int word = 1; word < 2048; ++word) longest += ",";
  CHECK(read_set(longest) == id_set{65504});
  CHECK_FALSE(read_set(longest + ","));
}

TEST_CASE("topology: a text is shown to hwloc if it is one well-formed topology") {
  taken(machine(""));
  taken("\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<!-- saved -->\n" +
        machine(""));
  taken(machine("<a/><z/><A/><Z/><x0/><x9/><_/>"));
  taken(machine("<info a=\"\" z=\"\" _=\"\"/>"));
  taken("<!DOCTYPE topology SYSTEM \"hwloc0123456789.dtd\">" + machine(""));
  refused("<!DOCTYPE topology SYSTEM \"hwloc0123456789a.dtd\">" + machine(""), "document type");
  refused("<!DOCTYPE html>" + machine(""), "document type");
  refused(document("<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">"), "document type");
  refused("<?xml", "does not end");
  refused("<?xml <", "does not end");
  refused("<!-- ", "a comment does not end");
  refused(machine("") + machine(""), "two roots");
  refused(machine("") + "text", "text after the end");
  refused("text" + machine(""), "text outside");
  refused("<topology version=\"2.0\">", "does not end");
  refused(machine("</info>"), "ends nothing that is open");
  refused(machine("<info></inf>"), "ends nothing that is open");
  refused(machine("< />"), "no name");
  for (char const* bad :
       {" =\"x\"", " a", " a=x", " a=\"1\" a=\"2\"", " A=\"1\"", " a0=\"1\"", " a=\"&apos;\"", " a=\">\""})
    refused(machine("<info" + std::string{bad} + "/>"), "malformed");
  refused(machine("<info a=\"1\"b=\"2\"/>"), "malformed");
  refused(machine("<info a=\"1"), "does not end");
  std::string deep = machine("");
  std::string opened, closed;
  for (int depth = 3; depth <= 64; ++depth) opened += "<x>", closed += "</x>";
  taken(machine(opened + closed));
  refused(machine(opened + "<x/>" + closed), "more than 64 deep");
  std::string many;
  for (int count = 0; count < 64; ++count) many += " " + std::string(std::size_t(count) + 1, 'a') + "=\"\"";
  taken(machine("<info" + many + "/>"));
  refused(machine("<info" + many + " z=\"\"/>"), "malformed");
  refused("", "empty");
  refused(std::string("<\0", 2), "not text");
  refused(std::string((std::size_t{32} << 20) + 1, ' '), "larger than 32 MiB");
  refused(std::string(std::size_t{32} << 20, ' '), "no Machine");
}

TEST_CASE("topology: a text is shown to hwloc if its objects can stand where they do") {
  refused("<root></root>", "its root is <root>");
  for (char const* version : {"1.0", "4.0", "2.", "2.00", "2x0", ""})
    refused(document("", "<topology version=\"" + std::string{version} + "\">"), "version is unknown");
  refused(document(""), "no Machine");
  refused("<topology version=\"2.0\"/>", "no Machine");
  refused(document(object("Machine", sets_of_two, one_memory)), "nothing in it has");
  refused(document(object("Machine", sets_of_two, units)), "no NUMANode");
  refused(document(object("NUMANode", " os_index=\"0\"" + sets_of_two, units)), "where the one Machine should");
  refused(document(object("Machine", sets_of_two, one_memory + units) + object("Machine", sets_of_two)),
          "the one Machine");
  refused(machine(object("Machine", sets_of_one)), "the one Machine");
  refused(machine(object("System", sets_of_one)), "the one Machine");
  refused(machine("<info>" + object("Misc", "") + "</info>"), "the one Machine");
  for (char const* known : {"L1Cache", "L5Cache", "L1iCache", "L3iCache", "Core", "Die", "Group", "Package"})
    taken(machine("", object(known, sets_of_one, unit) + other_unit));
  for (char const* none : {"L0Cache", "L6Cache", "M1Cache", "L1Cachf", "LCache", "L1", "L4iCache", "L1xCache",
                           "L1iiCache", "LaCache", "Node", "", "misc", "Pu"})
    refused(machine("", object(none, sets_of_one, unit) + other_unit), "is unknown");
  for (char const* kept : {"Misc", "Bridge", "PCIDev", "OSDev"}) taken(machine(object(kept, "")));
  taken(machine(object("Misc", "", object("Misc", ""))));
  refused(machine(object("Misc", "", object("Bridge", ""))), "stands in one that holds none");
  refused(machine("", object("Bridge", "", object("Core", sets_of_one))), "stands in one that holds none");
  refused(machine(object("Bridge", "",
                         object("NUMANode", " os_index=\"1\" cpuset=\"0x0\" complete_cpuset=\"0x0\" "
                                            "nodeset=\"0x2\" complete_nodeset=\"0x2\""))),
          "stands in one that holds none");
  refused(machine("", object("PU", " os_index=\"0\"" + sets_of_one, object("Core", sets_of_one)) + other_unit),
          "stands in one that holds none");
  refused(machine("", object("Core", sets_of_two, units) + object("Core", sets_of_one)), "of one beside it");
  refused(machine("", object("Core", sets_of_one, other_unit)), "that what holds it has not");
  refused(machine("", unit), "nothing in it has");
  refused(machine("", unit + object("PU", " os_index=\"0\"" + sets_of_other)), "os_index");
  for (char const* index : {"", "1x", "-1", "x", "65536"}) // the first that cannot be a bit of a set
    refused(machine("", unit + object("PU", " os_index=\"" + std::string{index} + "\"" + sets_of_other)),
            "has no os_index");
  refused(machine("", unit + object("PU", " os_index=\"65535\"" + sets_of_other)),
          "has a set that is not its os_index");
  refused(machine("", unit + object("PU", " os_index=\"1\"" + sets_of_two)), "os_index");
  refused(machine(one_memory), "has the os_index of another");
  refused(machine(object("Core", R"( cpuset="0x1" complete_cpuset="0x1" nodeset="0x1")")), "no complete_nodeset");
  refused(machine(object("Core", R"( cpuset="0x1" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1")")),
          "no complete_cpuset that holds");
  refused(machine(object("Core", R"( complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1")")), "no cpuset or");
  refused(machine(object("Bridge", " allowed_cpuset=\"none\"")), "allowed_cpuset that is none");
}
