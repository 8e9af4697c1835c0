/* SPDX-License-Identifier: Apache-2.0 */
/* `berth inspect --table`: tab-separated, one header line, one line per operation in file order, numbers without
 * units. Strings are escaped, so that a tab always separates columns and a newline always ends a row. */
#include "cli/inspect.h"
#include "cli/tensors.h"

#include <inttypes.h>

static void put_string(berth_text *text, const char *string) {
    cli_text_escaped(text, string);
    berth_text_append(text, "\t", 1);
}

/* Shapes of all outputs, separated by semicolons; "-" for an output that is left out, or where there is none. */
static void put_output_shapes(berth_text *text, const berth_graph *graph, const berth_op *op) {
    if (op->n_outputs == 0) berth_text_append(text, "-", 1);
    for (int32_t port = 0; port < op->n_outputs; port++) {
        if (port > 0) berth_text_append(text, ";", 1);
        if (op->outputs[port] < 0)
            berth_text_append(text, "-", 1);
        else
            berth_text_shape(text, &berth_graph_tensor(graph, op->outputs[port])->shape, cli_text_escaped);
    }
}

static void put_row(berth_text *text, const inspection *found, int32_t index) {
    const berth_op *op = berth_graph_op(found->graph, index);
    const berth_op_work *work = &found->work->ops[index];
    berth_text_printf(text, "%" PRId32 "\t", index);
    put_string(text, op->name);
    put_string(text, op->type);
    put_string(text, berth_work_class_name(work->cls));
    berth_text_printf(text, "%d\t", (op->flags & BERTH_OP_CONSTANT) != 0);
    for (int rule = 0; rule < INSPECT_N_RULES; rule++)
        berth_text_printf(text, "%" PRId32 "\t", found->groups[rule]->group_of[index]);
    if (work->known)
        berth_text_printf(text, "%.0f\t", work->flops);
    else
        berth_text_append(text, "?\t", 2);
    berth_text_printf(text, "%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t", work->parameter_bytes, work->input_bytes,
                      work->output_bytes);
    put_output_shapes(text, found->graph, op);
    berth_text_append(text, "\n", 1);
}

void cli_inspect_table(berth_text *text, const inspection *found) {
    berth_text_printf(text, "index\tname\ttype\tclass\tconstant");
    for (int rule = 0; rule < INSPECT_N_RULES; rule++)
        berth_text_printf(text, "\t%s", berth_group_rule_name((berth_group_rule)rule));
    berth_text_printf(text, "\tflops\tparameter_bytes\tinput_bytes\toutput_bytes\tshape\n");
    for (int32_t op = 0; op < berth_graph_op_count(found->graph); op++) put_row(text, found, op);
}
