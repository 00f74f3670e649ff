// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Which device of the run's chain carries the fields.

#include <keel/impl/residency/fields_base.hpp>
#include <keel/policy/choose.hpp>
#include <keel/policy/error.hpp>
#include <keel/policy/list.hpp>
#include <keel/policy/log.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace keel::residency::detail {

// Opens the memory of the first device of the run's chain that has room. One that has none is reported to the run's
// tracker.
template <class App>
template <class Run>
void fields_base<App>::open_first_of_chain(Run& run) {
  if constexpr (devices::size == 1 || !requires { run.device_chain(); run.tracker(); }) {
    on_chosen<true>([&]<class Tag>(Tag) { prepare<Tag>(); });
  } else {
    auto const chain = run.device_chain();
    std::string failed;
    for (auto const name : chain) {
      bool is_open = false;
      with_device<devices>(name, [&]<class Tag>(Tag tag) {
        chosen_ = policy::index_of<devices, Tag>;
        try {
          prepare<Tag>();
          is_open = true;
        } catch (error const& e) {
          if (chain.size() == 1) throw;
          failed.append(failed.empty() ? "" : "; ").append(e.brief());
          run.tracker().report_failure(tag, std::string(e.brief()));
        }
      });
      if (!is_open) continue;
      if (!failed.empty())
        policy::log(policy::log_level::warning,
                    "residency: routines on_device run on " + std::string(name) + ", because " + failed);
      return;
    }
    throw error("residency::fields", "no device has room for the variables", failed,
                "Take smaller arrays, or more ranks");
  }
}

template <class App>
std::string_view fields_base<App>::device_name() const {
  std::string_view name;
  for_each_device<devices>([&, at = std::size_t{0}]<class Tag>(Tag) mutable {
    if (at++ == chosen_) name = Tag::name;
  });
  return name;
}

} // namespace keel::residency::detail
