#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `make format` would leave everything as it is. Other versions of clang-format than
# Debian 12's lay out differently: skipped there.
cd "$(dirname "$0")/../.." || exit 1
clang-format --version 2>/dev/null | grep -q 'version 14\.' || exit 77
git ls-files '*.c' '*.h' | xargs clang-format --dry-run -Werror
