// SPDX-License-Identifier: MIT
#pragma once

/// @file
/// Every macro that keel defines; all other headers use these and define none.
///
/// Read from the compile line, so that the build's choice reaches the source:
/// `KEEL_DEVICES` (the default list of devices), `KEEL_DEFAULT_EXECUTION_SPACE`,
/// `KEEL_DEFAULT_HOST_EXECUTION_SPACE`, `KEEL_DEFAULT_MEMORY_SPACE`,
/// `KEEL_DEFAULT_HOST_MEMORY_SPACE` (what they say), `KEEL_VECTOR_SIZE` and
/// `OMEGA_VECTOR_SIZE` (elements that travel together), `KEEL_WITH_MPI`,
/// `KEEL_WITH_TBB`, `KEEL_WITH_MEMKIND`, `KEEL_WITH_UMPIRE`, `KEEL_WITH_HDF5`
/// (1 if that library was found, else 0 or absent).

/// The version of keel, 10000 * major + 100 * minor + patch: `#if KEEL_VERSION >= 500` is true from 0.5.0 on.
#define KEEL_VERSION 500

/// Marks a function that device code may call. Empty under a host compiler.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define KEEL_FUNCTION __host__ __device__
#else
#define KEEL_FUNCTION
#endif

/// Before a template of both sides that calls a function of the user's, which may be for the host only: nvcc warns of
/// it, also where the template is never called on the device.
#if defined(__NVCC__)
#define KEEL_CALLS_USER _Pragma("nv_exec_check_disable")
#else
#define KEEL_CALLS_USER
#endif

/// 1 in the pass of a compiler that makes code for an accelerator.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__SYCL_DEVICE_ONLY__)
#define KEEL_ON_ACCELERATOR 1
#else
#define KEEL_ON_ACCELERATOR 0
#endif

/// A function that is always inlined in an optimized build. In other builds that would only cost compile time.
#if defined(__OPTIMIZE__) && (defined(__GNUC__) || defined(__clang__))
#define KEEL_FORCE_INLINE [[gnu::always_inline]] inline
#else
#define KEEL_FORCE_INLINE inline
#endif

/// 1 if the program links keel's compiled part (`libkeel`, see meson option `compiled`): its headers then hold no
/// body of what is neither a template nor hot, and every source that includes them compiles faster. 0 is header-only.
#ifndef KEEL_COMPILED
#define KEEL_COMPILED 0
#endif
/// Before a function whose body belongs to the compiled part.
#if KEEL_COMPILED
#define KEEL_INLINE
#else
#define KEEL_INLINE inline
#endif

/// Before a loop of a few turns, their number a constant once its function was inlined: nothing is left of the loop.
#if defined(__clang__)
#define KEEL_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__CUDA_ARCH__)
#define KEEL_UNROLL _Pragma("unroll")
#elif defined(__NVCC__) // what the host compiler gets knows neither
#define KEEL_UNROLL
#else
#define KEEL_UNROLL _Pragma("GCC unroll 64")
#endif

#ifndef KEEL_WITH_MPI
#define KEEL_WITH_MPI 0
#endif
#ifndef KEEL_WITH_TBB
#define KEEL_WITH_TBB 0
#endif
#ifndef KEEL_WITH_MEMKIND
#define KEEL_WITH_MEMKIND 0
#endif
#ifndef KEEL_WITH_UMPIRE
#define KEEL_WITH_UMPIRE 0
#endif
#ifndef KEEL_WITH_HDF5
#define KEEL_WITH_HDF5 0
#endif

/// The value of `KEEL_DEVICES` as text, so that two parts of a program can be compared; empty if it is not defined.
#define KEEL_TEXT_OF(...) #__VA_ARGS__
#define KEEL_TEXT(...) KEEL_TEXT_OF(__VA_ARGS__)
#ifdef KEEL_DEVICES
#define KEEL_DEVICES_TEXT KEEL_TEXT(KEEL_DEVICES)
#else
#define KEEL_DEVICES_TEXT ""
#endif
