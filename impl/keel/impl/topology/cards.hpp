// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// From the functions and interfaces that hwloc lists to cards.

#include <keel/topology/objects.hpp>

#include <hwloc.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace keel::topology::detail {

/// A device and the object that it hangs under.
struct card {
  device shown;
  hwloc_obj_t above = nullptr;
  hwloc_obj_t first = nullptr; ///< its first PCI function, or its interface if it is not on PCI
  double link = 0;             ///< GB/s; 0 is unknown
};

inline std::string_view fact(hwloc_obj_t object, char const* name) {
  char const* const value = hwloc_obj_get_info_by_name(object, name);
  return value == nullptr ? std::string_view{} : value;
}

using pci_function = decltype(hwloc_obj_attr_u::pcidev);

/// Displays of consoles and virtual machines, which compute nothing: by vendor ASPEED, Matrox, Amazon,
/// Bochs, Cirrus, QXL, virtio, VMware, VirtualBox, Hyper-V, XGI, Silicon Motion, HiSilicon; and of
/// ATI's the ES1000 and the Rage XL of old servers.
inline bool only_displays(pci_function const& pci) {
  for (unsigned const vendor : {0x1a03u, 0x102bu, 0x1d0fu, 0x1234u, 0x1013u, 0x1b36u, 0x1af4u, 0x15adu, 0x80eeu,
                                0x1414u, 0x18cau, 0x126fu, 0x19e5u})
    if (pci.vendor_id == vendor) return true;
  return pci.vendor_id == 0x1002 && (pci.device_id == 0x515e || pci.device_id == 0x5969 || pci.device_id == 0x4752);
}

/// By PCI class, and if a class means several things, by vendor.
inline device_type type_of_function(pci_function const& pci) {
  bool const programmable = pci.vendor_id == 0x10ee || pci.vendor_id == 0x1172; // Xilinx, Altera
  bool const graphics = pci.vendor_id == 0x1002 || pci.vendor_id == 0x10de;     // AMD's MI300 is no display
  if (pci.class_id == 0x0c06) return device_type::network;                      // InfiniBand
  if (pci.class_id == 0x0c04) return device_type::storage;                      // Fibre Channel
  switch (pci.class_id >> 8) {
  case 0x01: return device_type::storage;
  case 0x02: return device_type::network;
  case 0x03: return only_displays(pci) ? device_type::other : device_type::gpu;
  case 0x0b:
  case 0x12: return programmable ? device_type::fpga : graphics ? device_type::gpu : device_type::coprocessor;
  default: return programmable ? device_type::fpga : device_type::other;
  }
}

/// By hwloc's own kind of interface; only asked if the PCI class gives no type.
inline device_type type_of_interface(hwloc_obj_t object) {
  std::string_view const kind = object->subtype == nullptr ? "" : object->subtype;
#if HWLOC_API_VERSION >= 0x00030000
  auto const is = [types = object->attr->osdev.types](auto type) { return (types & type) != 0; };
  if (is(HWLOC_OBJ_OSDEV_STORAGE)) return device_type::storage;
#else
  unsigned kind_read = 0; // a file may say a number that is none of the type's
  static_assert(sizeof kind_read == sizeof object->attr->osdev.type);
  std::memcpy(&kind_read, &object->attr->osdev.type, sizeof kind_read);
  auto const is = [kind_read](auto type) { return kind_read == unsigned(type); };
  if (is(HWLOC_OBJ_OSDEV_BLOCK)) return device_type::storage;
#endif
  if (is(HWLOC_OBJ_OSDEV_NETWORK) || is(HWLOC_OBJ_OSDEV_OPENFABRICS)) return device_type::network;
  if (kind == "CUDA" || kind == "NVML" || kind == "RSMI" || kind == "LevelZero") return device_type::gpu;
  if (fact(object, "OpenCLDeviceType") == "GPU" || is(HWLOC_OBJ_OSDEV_GPU)) return device_type::gpu;
  if (is(HWLOC_OBJ_OSDEV_COPROC)) return device_type::coprocessor;
  return device_type::other;
}

/// Which of two functions shows what a card is: a GPU's sound does not.
inline device_type more_telling(device_type a, device_type b) {
  constexpr int rank[]{0, 4, 6, 5, 5, 3, 1}; // any, network, gpu, fpga, coprocessor, storage, other
  return rank[int(a)] >= rank[int(b)] ? a : b;
}

inline std::string pci_text(pci_function const& pci) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", unsigned(pci.domain), unsigned(pci.bus), unsigned(pci.dev),
                unsigned(pci.func));
  return text;
}

/// Takes over what is not known yet: the first function or interface that reports something wins.
inline void read_facts(card& c, hwloc_obj_t object) {
  auto& d = c.shown;
  for (char const* name : {"NVIDIAUUID", "AMDUUID", "LevelZeroUUID"})
    if (d.uuid.empty()) d.uuid = fact(object, name);
  if (auto const text = fact(object, "Contexts"); d.contexts == 0 && !text.empty() && text.size() < 6)
    d.contexts = std::max(0, std::atoi(text.data()));
  constexpr std::pair<char const*, char const*> names[]{
      {"PCIVendor", "PCIDevice"}, {"GPUVendor", "GPUModel"}, {"Vendor", "Model"}};
  for (auto const& [vendor, product] : names)
    if (d.model.empty()) {
      d.model = fact(object, vendor);
      if (auto const model = fact(object, product); !model.empty())
        d.model.append(d.model.empty() ? "" : " ").append(model);
    }
}

/// Every card once, in the order of the buses, then what is on no bus.
///
/// Functions of one slot behind one bridge are one card, and so are the interfaces that the
/// system hangs under them.
inline std::vector<card> cards(hwloc_topology_t hwloc) {
  std::vector<card> all;
  for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_pcidev(hwloc, at)) != nullptr;) {
    auto const& pci = at->attr->pcidev;
    auto const place = [](hwloc_obj_t o) {
      auto const& p = o->attr->pcidev;
      return std::tuple{o->parent, unsigned(p.domain), unsigned(p.bus), unsigned(p.dev)};
    };
    if (all.empty() || place(all.back().first) != place(at)) {
      all.push_back({.shown = {}, .above = at, .first = at});
      all.back().shown.pci_id = pci_text(pci);
    }
    auto& c = all.back();
    c.shown.type = more_telling(c.shown.type, type_of_function(pci));
    if (std::isfinite(pci.linkspeed)) c.link = std::max(c.link, double(pci.linkspeed)); // a file may say anything
    read_facts(c, at);
  }
  for (hwloc_obj_t at = nullptr; (at = hwloc_get_next_osdev(hwloc, at)) != nullptr;) {
    auto on = at->parent;
    while (on->type == HWLOC_OBJ_OS_DEVICE || on->type == HWLOC_OBJ_MISC) on = on->parent;
    auto owner = all.end();
    if (on->type == HWLOC_OBJ_PCI_DEVICE) {
      auto const& pci = on->attr->pcidev;
      owner = std::find_if(all.begin(), all.end(), [&](card const& c) {
        if (c.first->type != HWLOC_OBJ_PCI_DEVICE || c.first->parent != on->parent) return false;
        auto const& p = c.first->attr->pcidev;
        return p.domain == pci.domain && p.bus == pci.bus && p.dev == pci.dev;
      });
    }
    if (owner == all.end()) owner = all.insert(all.end(), {.shown = {}, .above = at, .first = at});
    auto const display = owner->first->type == HWLOC_OBJ_PCI_DEVICE && owner->first->attr->pcidev.class_id >> 8 == 0x03;
    if (owner->shown.type == device_type::other && !display) owner->shown.type = type_of_interface(at);
    if (owner->shown.name.empty() && at->name != nullptr) owner->shown.name = at->name;
    read_facts(*owner, at);
  }
  for (auto& c : all) {
    c.shown.id = int(&c - all.data());
    if (c.shown.name.empty()) c.shown.name = c.shown.pci_id;
    double fastest = 0;
    for (auto const& other : all)
      if (other.shown.type == c.shown.type) fastest = std::max(fastest, other.link);
    if (c.link > 0) c.shown.relative_speed = int(std::lround(100 * c.link / fastest));
  }
  return all;
}

} // namespace keel::topology::detail
