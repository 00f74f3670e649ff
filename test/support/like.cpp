// SPDX-License-Identifier: MIT
/// @file
/// Empty: only the flags with which it would be compiled are of use, see compiler.py.
