// SPDX-License-Identifier: MIT
#include <keel/validity/settings.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/nearest.hpp>

#include <algorithm>

namespace keel::residency {

KEEL_INLINE std::vector<bool> chosen_by(std::string_view text, std::vector<names> const& known,
                                        std::string_view written_to) {
  std::vector<bool> chosen(known.size(), text == "all");
  if (text == "all") return chosen;
  constexpr std::string_view between = " \t\n,";
  for (std::size_t at = text.find_first_not_of(between); at != text.npos; at = text.find_first_not_of(between, at)) {
    std::size_t const end = std::min(text.find_first_of(between, at), text.size());
    std::string_view const word = text.substr(at, end - at);
    at = end;
    bool is_known = false;
    std::vector<std::string_view> all{"all"};
    for (std::size_t v = 0; v < known.size(); ++v) {
      if (word == known[v].variable || word == known[v].group) chosen[v] = is_known = true;
      all.push_back(known[v].variable);
      if (!known[v].group.empty()) all.push_back(known[v].group);
    }
    if (!is_known)
      throw error("residency", std::string(written_to) + " names '" + std::string(word) + "'",
                  "no variable and no group is called so", "Did you mean " + std::string(policy::nearest(word, all)));
  }
  return chosen;
}

KEEL_INLINE std::vector<request> all_levels(int variable, int levels, region reads, region writes,
                                            settings const& how) {
  std::vector<request> list;
  for (int l = 0; l < levels; ++l) {
    request const one{variable, l, l > 0 && how.only_reads_current_level ? region::none : reads,
                      l > 0 && how.only_writes_current_level ? region::none : writes};
    if (one.reads != region::none || one.writes != region::none) list.push_back(one);
  }
  return list;
}

} // namespace keel::residency
