/* SPDX-License-Identifier: Apache-2.0 */
/* `hsdag` with design=joint: whole placements, drawn at once. */
#ifndef BERTH_LEARN_JOINT_H
#define BERTH_LEARN_JOINT_H

#include "learn/policy.h"

/* Searches with a policy that the caller began and ends. */
berth_status berth_learn_joint(berth_search *search, berth_policy *policy);

#endif
