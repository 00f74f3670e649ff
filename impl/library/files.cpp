// SPDX-License-Identifier: MIT
// The bodies of residency that have to do with files.
#include <keel/impl/residency/files/checkpoint.ipp>
#include <keel/impl/residency/files/checkpoint_files.ipp>
#include <keel/impl/residency/files/collective_file.ipp>
#include <keel/impl/residency/files/gather.ipp>
#include <keel/impl/residency/files/global_order.ipp>
#include <keel/impl/residency/files/restart.ipp>
#include <keel/impl/residency/files/restart_content.ipp>
#include <keel/impl/residency/files/save.ipp>
#include <keel/impl/residency/files/saved_frame.ipp>
