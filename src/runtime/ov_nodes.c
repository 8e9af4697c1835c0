/* SPDX-License-Identifier: Apache-2.0 */
/* What was compiled and run, for the report (ov_report.h): operations from the runtime model, pieces from HETERO, and
 * which operation ran in which piece from the profile, whose names begin with "subgraph3: ". */
#include "runtime/ov.h"

#include "base/map.h"
#include "runtime/ov_report.h"

#include <stdlib.h>
#include <string.h>

typedef struct collector {
    const berth_ov *ov;
    const char **pieces;
    berth_ov_report_node *nodes;
    int32_t n_pieces, piece_room, n_nodes, node_room;
} collector;

/* Twice the room, with what is there; NULL: no memory. */
static void *grow(berth_arena *arena, const void *old, int32_t n, int32_t *room, size_t size) {
    int32_t wanted = 2 * *room + 64;
    void *wider = berth_arena_push(arena, (size_t)wanted, size);
    if (!wider) return NULL;
    if (n > 0) memcpy(wider, old, (size_t)n * size);
    *room = wanted;
    return wider;
}

static void take_piece(void *user, const char *device) {
    collector *c = user;
    if (c->n_pieces == c->piece_room) {
        const char **wider = grow(c->ov->arena, c->pieces, c->n_pieces, &c->piece_room, sizeof *c->pieces);
        if (!wider) return;
        c->pieces = wider;
    }
    c->pieces[c->n_pieces++] = berth_arena_string(c->ov->arena, device, strlen(device));
}

static void take_node(void *user, const berth_ov_node *node) {
    collector *c = user;
    berth_arena *arena = c->ov->arena;
    if (c->n_nodes == c->node_room) {
        berth_ov_report_node *wider = grow(arena, c->nodes, c->n_nodes, &c->node_room, sizeof *c->nodes);
        if (!wider) return;
        c->nodes = wider;
    }
    berth_ov_report_node *to = &c->nodes[c->n_nodes++];
    *to = (berth_ov_report_node){.node = *node, .piece = -1};
    to->node.name = berth_arena_string(arena, node->name, strlen(node->name));
    to->node.type = berth_arena_string(arena, node->type, strlen(node->type));
    to->node.originals = berth_arena_string(arena, node->originals, strlen(node->originals));
}

/* Of a row of the profile: its piece, and its name without what says so. */
static int32_t piece_of(const char **name) {
    static const char prefix[] = "subgraph";
    char *end = NULL;
    if (strncmp(*name, prefix, sizeof prefix - 1) != 0) return 0;
    long piece = strtol(*name + sizeof prefix - 1, &end, 10);
    if (end == *name + sizeof prefix - 1 || strncmp(end, ": ", 2) != 0 || piece < 0 || piece > INT32_MAX) return 0;
    *name = end + 2;
    return (int32_t)piece;
}

/* By name: what was executed has distinct ones, but for reorderings, which stand for no operation. */
static berth_status find_pieces(collector *c, const ov_profile *profile) {
    berth_map by_name;
    berth_status status = BERTH_OK;
    berth_map_init(&by_name, c->ov->ctx);
    for (int32_t i = 0; i < c->n_nodes && status == BERTH_OK; i++)
        if (!berth_map_insert(&by_name, c->nodes[i].node.name, strlen(c->nodes[i].node.name), i, NULL))
            status = berth_fail_nomem(c->ov->ctx);
    for (size_t i = 0; i < profile->n && status == BERTH_OK; i++) {
        const char *name = profile->rows[i].name;
        int32_t piece = piece_of(&name);
        const int32_t *node = berth_map_find(&by_name, name, strlen(name));
        if (node && piece < c->n_pieces && profile->rows[i].status == OV_EXECUTED) c->nodes[*node].piece = piece;
    }
    berth_map_deinit(&by_name);
    return status;
}

static berth_status write(const collector *c, const char *const *refused, int32_t n_refused) {
    berth_ov_reported report = {c->n_pieces, n_refused, c->n_nodes, c->pieces, refused, c->nodes};
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(c->ov->ctx, &text));
    berth_ov_report_write(text, &report);
    berth_status status = berth_text_write(c->ov->ctx, text, c->ov->job->profile);
    berth_text_free(text);
    return status;
}

/* Devices other than the CPU may tell nothing of what is in them. */
static bool may_be_silent(const berth_ov *ov) {
    for (int32_t i = 0; i < ov->n_devices; i++)
        if (!berth_ov_device_is_cpu(ov->devices[i].name)) return true;
    return false;
}

static berth_status take_profile(collector *c, const ov_request *request) {
    ov_profile profile = {0};
    int code = c->ov->api->infer_request_get_profiling_info(request, &profile);
    if (code != 0 && may_be_silent(c->ov)) return BERTH_OK;
    BERTH_TRY(berth_ov_check(c->ov, code, BERTH_E_UNSUPPORTED, "profile"));
    berth_status status = find_pieces(c, &profile);
    c->ov->api->profiling_info_list_free(&profile);
    return status;
}

berth_status berth_ov_report(const berth_ov *ov, ov_compiled *compiled, const ov_request *request,
                             const char *const *refused, int32_t n_refused) {
    collector c = {.ov = ov};
    char error[BERTH_OV_ERROR] = "";
    bool is_split = ov->job->assignment || n_refused > 0;
    BERTH_TRY(berth_ov_need_module(ov));
    if (!is_split) take_piece(&c, ov->devices[0].name);
    if ((is_split && ov->module->pieces(compiled, take_piece, &c, error) != 0) ||
        (ov->module->nodes(compiled, take_node, &c, error) != 0 && !may_be_silent(ov)))
        return berth_fail(ov->ctx, BERTH_E_UNSUPPORTED, "OpenVINO: %.800s", error);
    if (ov->arena->failed) return berth_fail_nomem(ov->ctx);
    BERTH_TRY(take_profile(&c, request));
    return write(&c, refused, n_refused);
}
