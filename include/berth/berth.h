/* SPDX-License-Identifier: Apache-2.0 */
/** berth/berth.h: everything. Each header below also stands alone. */
#ifndef BERTH_BERTH_H
#define BERTH_BERTH_H

#include "berth/base.h"
#include "berth/bench.h"
#include "berth/cases.h"
#include "berth/census.h"
#include "berth/cost.h"
#include "berth/device.h"
#include "berth/export.h"
#include "berth/graph.h"
#include "berth/group.h"
#include "berth/learn.h"
#include "berth/paper.h"
#include "berth/place.h"
#include "berth/plan.h"
#include "berth/print.h"
#include "berth/profile.h"
#include "berth/read.h"
#include "berth/real.h"
#include "berth/runtime.h"
#include "berth/simulate.h"
#include "berth/store.h"
#include "berth/text.h"
#include "berth/work.h"

#endif
