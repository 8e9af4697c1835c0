# SPDX-License-Identifier: Apache-2.0
refuses unquoted scripts/bad < <(printf '#!/bin/sh\nrm -rf $1/a\n')
refuses not_posix scripts/bad < <(printf '#!/bin/sh\n[[ $1 == a ]]\n')
accepts quoted scripts/good < <(printf '#!/bin/sh\nrm -rf "$1"\n')
accepts other_languages scripts/good < <(printf '#!/usr/bin/awk -f\n{ print $1 }\n')
