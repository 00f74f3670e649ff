// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// StarPU's bookkeeping for four reads and one write: handles of data that are valid, acquired and released.

#if BENCH_WITH_STARPU
#include <starpu.h>
#endif

#include <cstdint>

namespace bench {

#if BENCH_WITH_STARPU
inline constexpr bool has_starpu = true;
inline void starpu(long n) {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 1, conf.ncuda = 0, conf.nopencl = 0;
  if (starpu_init(&conf) != 0) return;
  double data[5][16]{};
  starpu_data_handle_t handles[5];
  for (int k = 0; k < 5; ++k)
    starpu_vector_data_register(&handles[k], STARPU_MAIN_RAM, std::uintptr_t(data[k]), 16, sizeof(double));
  for (long i = 0; i < n; ++i) {
    for (int k = 0; k < 5; ++k) starpu_data_acquire(handles[k], k < 4 ? STARPU_R : STARPU_W);
    asm volatile("" ::: "memory");
    for (auto& h : handles) starpu_data_release(h);
  }
  for (auto& h : handles) starpu_data_unregister(h);
  starpu_shutdown();
}
#else
inline constexpr bool has_starpu = false;
inline void starpu(long) {}
#endif

} // namespace bench
