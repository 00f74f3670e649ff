// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// What stands in the way of a program that starts here now: of this node, and of this configuration.

#include "knobs.hpp"

#include <keel/policy/choose.hpp>
#include <keel/policy/tags.hpp>
#include <keel/policy/error.hpp>
#include <keel/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace keel::info {

/// Something to fix, or only something to know.
struct finding {
  bool is_wrong;
  std::string text;
};

class checking {
public:
  checking(topology::node const& node, configuration const& all, std::optional<int> ranks)
      : node_(node), all_(all), ranks_(ranks.value_or(1)) {
    variables();
    limits();
    if (node.is_this_machine()) {
      processors();
      memories();
    }
    devices();
  }
  [[nodiscard]] std::vector<finding> const& found() const { return found_; }

private:
  void wrong(std::string const& what, std::string const& why, std::string const& hint) {
    found_.push_back({true, error::message("info", what, why, hint)});
  }
  void note(std::string const& what, std::string const& why) {
    found_.push_back({false, error::message("info", what, why, {})});
  }

  /// Those of keel's that no knob has, or whose knob nothing here has; and those of hwloc's, which change the node.
  void variables() {
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
      std::string_view const setting = *at;
      std::string const name{setting.substr(0, setting.find('='))};
      if (name.starts_with("HWLOC_") && name != "HWLOC_HIDE_ERRORS")
        note(std::string{setting} + " is set", "variables of hwloc's may change what is seen of the node");
    }
    for (auto const& text : all_.without_effect) found_.push_back({true, "keel::info: " + text});
    if (!node_.is_this_machine())
      wrong(node_.source() + " stands in the place of this machine", "nothing can be bound there",
            "Unset that variable");
  }

  void limits() {
    if (auto const& withheld = node_.withheld_hardware_threads(); !withheld.empty())
      note("hardware threads " + to_string(withheld) + " are withheld",
           "by a cgroup or cpuset; keel hands out the others");
    if (auto const& withheld = node_.withheld_memories(); !withheld.empty())
      note("NUMA nodes " + to_string(withheld) + " are withheld", "by a cgroup or cpuset; keel hands out the others");
    if (auto const bound = bound_cores(node_); bound.size() < node_.cores().size())
      note("this process is bound to cores " + to_string(bound), "of " + std::to_string(node_.cores().size()));
  }

  /// More threads than places for them, and whether a process can be bound at all.
  void processors() {
    auto const places = topology::bound_hardware_threads();
    int threads = 1;
    for (auto const& k : all_.knobs)
      if (k.option == "--keel-num-threads" &&
          std::any_of(all_.devices.begin(), all_.devices.end(),
                      [&](device_row const& d) { return d.chosen && d.name == k.device; }))
        if (ranks_ == 1 || k.source != "unset") threads = std::atoi(k.value.c_str()); // else the ranks share
    auto const wanted = std::size_t(ranks_) * std::size_t(threads);
    if (wanted > places.size())
      wrong("there is no room for " + policy::counted(ranks_, "rank") + " of " + policy::counted(threads, "thread"),
            "hardware threads allowed: " + to_string(places), "Start fewer");
    try {
      topology::binding const same{node_, {.cores = bound_cores(node_), .hardware_threads = places}};
    } catch (error const& e) {
      wrong("this process cannot be bound to cores", e.what(),
            "Let the container or batch system allow sched_setaffinity");
    }
  }

  void memories() {
    for (int const m : topology::ordinary_memories())
      if (auto const why = topology::why_not_bindable({m}); !why.empty())
        wrong("memory cannot be bound to NUMA node " + std::to_string(m), why,
              "Let the container or batch system allow mbind");
  }

  void devices() {
    bool serves_gpus = false;
    for (auto const& d : all_.devices) {
      if (!d.available)
        wrong("the device " + d.name + " is not available", "it is compiled in, but none is here", "Run without it");
      with_device<all_devices>(
          d.name, [&]<class Tag>(Tag) { serves_gpus = serves_gpus || (d.available && policy::is_accelerator<Tag>); });
    }
    auto const gpus = std::count_if(node_.devices().begin(), node_.devices().end(),
                                    [](topology::device const& d) { return d.type == topology::device_type::gpu; });
    if (gpus > 0 && !serves_gpus)
      note(std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs") + " will not be used",
           "no device of this keel runs there");
  }

  topology::node const& node_;
  configuration const& all_;
  int ranks_;
  std::vector<finding> found_;
};

/// A line for each finding, what is wrong first.
inline std::string findings_text(std::vector<finding> const& all) {
  std::string text;
  for (bool const is_wrong : {true, false})
    for (auto const& f : all)
      if (f.is_wrong == is_wrong) text += (is_wrong ? "wrong: " : "note: ") + f.text + '\n';
  auto const count = std::count_if(all.begin(), all.end(), [](finding const& f) { return f.is_wrong; });
  return text + (count == 0 ? "nothing is wrong" : policy::counted(count, "thing is", "things are") + " wrong") + '\n';
}

} // namespace keel::info
