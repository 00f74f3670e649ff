// SPDX-License-Identifier: MIT
#include <keel/device.hpp>

struct app : keel::defaults {
  using devices = keel::where_supported<keel::list<keel::serial, keel::openmp, keel::simulated, keel::sycl>>;
};

int main(int argc, char** argv) {
  keel::start<app> before;
  keel::runtime<app> run{argc, argv, before};
  run.configuration<keel::simulated>().set_threads(1);
  run.configuration<keel::sycl>().set_device_instance(0);
}
