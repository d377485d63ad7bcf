#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `meson dist` runs this before it packs. Otherwise the archive's directory would have the time of packing and the
# mode of the caller's umask, so two archives of one commit would differ.
set -eu
chmod 755 "$MESON_DIST_ROOT"
touch -d "@$(git -C "$MESON_SOURCE_ROOT" log -1 --format=%ct)" "$MESON_DIST_ROOT"
