/* SPDX-License-Identifier: Apache-2.0 */
/* Running an elimination: fill the tables of all terms, then add up and minimise variable by variable; going back,
 * every variable takes the value that was best for those chosen after it.
 *
 * Where a variable was split its groups would each choose for themselves. Before that they are made to agree as far as
 * they can: what each group loses by a value is evened out among them, which changes no sum and raises the bound
 * (Ihler, Flerova, Dechter, Otten: Join-graph based cost-shifting schemes, 2012). */
#include "search/eliminate_plan.h"

#include <math.h>
#include <string.h>

static const double *table_of(const berth_eliminate *p, int32_t factor) {
    return p->tables + p->factors.items[factor].table;
}

/* The next values of the message's variables, the last one fastest; offsets of the members follow. False: no more. */
static bool advance(const berth_eliminate *p, const berth_group_of_factors *group, int32_t *value) {
    const berth_factor *message = &p->factors.items[group->message];
    int32_t n = message->n_vars;
    const int32_t *scope = p->scopes.items + message->scope, *strides = p->strides.items + group->strides;
    for (int32_t i = n - 1; i >= 0; i--) {
        int32_t size = p->sizes.items[scope[i]];
        bool wraps = ++value[i] == size;
        int32_t by = wraps ? 1 - size : 1;
        if (wraps) value[i] = 0;
        for (int32_t m = 0; m < group->n; m++) p->offset[m] += by * strides[m * (n + 1) + i + 1];
        if (!wraps) return true;
    }
    return false;
}

/* What the group costs for each value of its variable, others as in p->offset. */
static void add_up(const berth_eliminate *p, const berth_group_of_factors *group, int32_t n_vars, int32_t size,
                   double *sum) {
    const int32_t *strides = p->strides.items + group->strides, *member = p->members.items + group->first;
    for (int32_t x = 0; x < size; x++) sum[x] = 0;
    for (int32_t m = 0; m < group->n; m++, strides += n_vars + 1) {
        const double *table = table_of(p, member[m]) + p->offset[m];
        size_t stride = (size_t)strides[0];
        for (int32_t x = 0; x < size; x++) sum[x] += table[(size_t)x * stride];
    }
}

/* Minimises a group: over its variable into the message, or over the others into least[] where that is given. */
static double run_group(const berth_eliminate *p, const berth_group_of_factors *group, int32_t size,
                        const double *shift, double *least) {
    double sum[BERTH_MAX_DEVICES];
    int32_t value[BERTH_MAX_DEVICES] = {0};
    int32_t n_vars = group->message < 0 ? 0 : p->factors.items[group->message].n_vars;
    double *out = group->message < 0 ? NULL : p->tables + p->factors.items[group->message].table;
    double total = 0;
    memset(p->offset, 0, (size_t)group->n * sizeof *p->offset);
    for (int32_t x = 0; least && x < size; x++) least[x] = INFINITY;
    do {
        double best = INFINITY;
        add_up(p, group, n_vars, size, sum);
        for (int32_t x = 0; x < size; x++) {
            double cost = shift ? sum[x] + shift[x] : sum[x];
            if (cost < best) best = cost;
            if (least && sum[x] < least[x]) least[x] = sum[x];
        }
        if (!least && out) *out++ = best;
        if (!out) total = best;
    } while (n_vars > 0 && advance(p, group, value));
    return total;
}

/* What the values of a split variable cost more in one of its groups. */
static double *shift_of(const berth_eliminate *p, int32_t group) {
    return p->shifts + (size_t)group * BERTH_MAX_DEVICES;
}

/* Shifts that let the groups of a split variable lose the same by each of its values. */
static void even_out(const berth_eliminate *p, const berth_step *step, int32_t size) {
    for (int32_t g = 0; g < step->n; g++) run_group(p, &p->groups.items[step->first + g], size, NULL, shift_of(p, g));
    for (int32_t x = 0; x < size; x++) {
        double mean = 0;
        for (int32_t g = 0; g < step->n; g++) mean += shift_of(p, g)[x] / step->n;
        for (int32_t g = 0; g < step->n; g++) {
            double *shift = &shift_of(p, g)[x];
            *shift = mean < INFINITY ? mean - *shift : 0;
        }
    }
}

static double run_step(const berth_eliminate *p, const berth_step *step) {
    int32_t size = p->sizes.items[step->var];
    double total = 0;
    bool shifts = step->n > 1 && size > 1;
    if (shifts) even_out(p, step, size);
    for (int32_t g = 0; g < step->n; g++)
        total += run_group(p, &p->groups.items[step->first + g], size, shifts ? shift_of(p, g) : NULL, NULL);
    return total;
}

/* The best value of the step's variable, given those of all that were eliminated later. */
static void choose(berth_eliminate *p, const berth_step *step) {
    int32_t size = p->sizes.items[step->var], best = 0;
    double cost[BERTH_MAX_DEVICES] = {0};
    for (int32_t g = step->first; g < step->first + step->n; g++) {
        const berth_group_of_factors *group = &p->groups.items[g];
        berth_factor message = group->message < 0 ? (berth_factor){0} : p->factors.items[group->message];
        const int32_t *scope = p->scopes.items + message.scope, *strides = p->strides.items + group->strides;
        for (int32_t m = 0; m < group->n; m++, strides += message.n_vars + 1) {
            const double *table = table_of(p, p->members.items[group->first + m]);
            size_t first = 0, stride = (size_t)strides[0];
            for (int32_t i = 0; i < message.n_vars; i++) first += (size_t)strides[i + 1] * (size_t)p->chosen[scope[i]];
            for (int32_t x = 0; x < size; x++) cost[x] += table[first + (size_t)x * stride];
        }
    }
    for (int32_t x = 1; x < size; x++)
        if (cost[x] < cost[best]) best = x;
    p->chosen[step->var] = best;
}

/* What is known of a factor's variables while its table is filled. */
typedef struct filling {
    const berth_eliminate *p;
    const berth_terms *t;
    const berth_factor *factor;
    const int32_t *scope;
    int32_t value[BERTH_MAX_DEVICES]; /* device of a node, else 0 or 1 */
    int32_t rank[BERTH_MAX_DEVICES];
    int32_t home;
} filling;

static double fill_value(const filling *f) {
    const berth_terms *t = f->t;
    const berth_costs *c = t->costs;
    int32_t v = f->factor->value, home = f->home;
    uint64_t wanted = 0;
    double ms = 0;
    for (int32_t i = f->factor->has_producer; i < f->factor->n_vars; i++) wanted |= (uint64_t)1 << f->value[i];
    if (c->value_target[v] >= 0) wanted |= (uint64_t)1 << c->value_target[v];
    wanted &= ~((uint64_t)1 << home);
    if (wanted) ms += berth_terms_out(t, v, home);
    for (; wanted; wanted &= wanted - 1) ms += berth_terms_in(t, v, home, __builtin_ctzll(wanted));
    if (!t->read_ms && !t->read_change) return ms;
    for (int32_t at = c->reader_start[v]; at < c->reader_start[v + 1]; at++)
        for (int32_t i = f->factor->has_producer; i < f->factor->n_vars; i++)
            if (f->scope[i] == t->node_of[c->readers[at]]) ms += berth_terms_read(t, v, at, home, f->value[i]);
    return ms;
}

static double fill_entry(const filling *f) {
    const berth_terms *t = f->t;
    const berth_factor *factor = f->factor;
    int32_t v = factor->value, first = factor->has_producer;
    switch (factor->kind) {
    case BERTH_FACTOR_OWN:
        if (f->scope[0] >= t->n_nodes) return 0;
        return t->node_ms[(size_t)f->scope[0] * (size_t)t->costs->n_devices + (size_t)f->value[0]];
    case BERTH_FACTOR_VALUE: return fill_value(f);
    case BERTH_FACTOR_READ: return berth_terms_read(t, v, factor->at, f->home, f->value[first]);
    case BERTH_FACTOR_WANTED:
        if (!f->value[first] || f->home == factor->at) return 0;
        if (t->via_host && !f->value[first + 1]) return INFINITY;
        return berth_terms_in(t, v, f->home, factor->at);
    case BERTH_FACTOR_READER: return f->value[1] == factor->at && !f->value[0] ? INFINITY : 0;
    case BERTH_FACTOR_TARGET: return f->value[0] ? 0 : INFINITY;
    case BERTH_FACTOR_LEAVES: return f->value[first] ? berth_terms_out(t, v, f->home) : 0;
    case BERTH_FACTOR_MESSAGE: break;
    }
    return 0;
}

static void set_value(filling *f, int32_t i, int32_t rank) {
    uint64_t mask = f->p->masks.items[f->scope[i]];
    f->rank[i] = rank;
    f->value[i] = mask ? berth_nth_device(mask, rank) : rank;
    if (i == 0 && f->factor->has_producer) f->home = f->value[0];
}

static void fill(const berth_eliminate *p, const berth_factor *factor) {
    filling f = {.p = p, .t = p->terms, .factor = factor, .scope = p->scopes.items + factor->scope};
    if (factor->kind != BERTH_FACTOR_OWN && !factor->has_producer) f.home = p->terms->costs->value_home[factor->value];
    for (int32_t i = 0; i < factor->n_vars; i++) set_value(&f, i, 0);
    for (int32_t entry = 0; entry < factor->size; entry++) {
        p->tables[factor->table + entry] = fill_entry(&f);
        for (int32_t i = factor->n_vars - 1; i >= 0; i--) {
            bool wraps = f.rank[i] + 1 == p->sizes.items[f.scope[i]];
            set_value(&f, i, wraps ? 0 : f.rank[i] + 1);
            if (!wraps) break;
        }
    }
}

double berth_eliminate_run(berth_eliminate *plan, int32_t *device) {
    double total = 0;
    for (size_t i = 0; i < plan->factors.n; i++) {
        const berth_factor *factor = &plan->factors.items[i];
        if (factor->kind == BERTH_FACTOR_MESSAGE) continue;
        fill(plan, factor);
        if (factor->n_vars == 0) total += plan->tables[factor->table];
    }
    if (plan->split) berth_eliminate_shift(plan, plan->n_rounds);
    for (size_t i = 0; i < plan->steps.n; i++) total += run_step(plan, &plan->steps.items[i]);
    for (size_t i = plan->steps.n; i > 0; i--) choose(plan, &plan->steps.items[i - 1]);
    for (int32_t node = 0; node < plan->terms->n_nodes; node++)
        device[node] = berth_nth_device(plan->masks.items[node], plan->chosen[node]);
    return total;
}

bool berth_eliminate_is_exact(const berth_eliminate *plan) {
    return !plan->split;
}

double berth_eliminate_entries(const berth_eliminate *plan) {
    return plan->n_entries;
}

double berth_eliminate_additions(const berth_eliminate *plan) {
    return plan->n_additions;
}

void berth_eliminate_set_rounds(berth_eliminate *plan, int32_t n_rounds) {
    plan->n_rounds = n_rounds;
}
