/* SPDX-License-Identifier: Apache-2.0 */
/* All three say the same: which properties devices have, which operation goes where, and that constants, inputs and
 * outputs go with their readers. */
#include "plan/openvino_loaders.h"

#include "runtime/ov_map.h"

#include <inttypes.h>
#include <string.h>

static const char hint[] = "INFERENCE_PRECISION_HINT";

/* As measured: in the precision of the model, unless the plan or the device's name says otherwise. */
static bool is_kept_wide(const berth_openvino_plan *plan, const berth_ov_device *device) {
    return !plan->export_->plan->native_precision && !berth_ov_device_is_told(device);
}

static void put_target(berth_text *text, const berth_openvino_plan *plan) {
    berth_text_printf(text, "HETERO");
    char mark = ':';
    for (int32_t d = 0; d < plan->n_devices; d++) {
        if (!plan->is_used[d]) continue;
        berth_text_printf(text, "%c%s", mark, plan->devices[d].name);
        mark = ',';
    }
}

/* --- the map ---------------------------------------------------------------------------------------------------- */

static void put_setting(berth_text *text, const berth_openvino_plan *plan, const berth_ov_device *device) {
    berth_json_inline(text);
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "device", device->name);
    if (device->is_alias) berth_json_string(text, "plugin", berth_ov_device_plugin());
    berth_json_object_begin(text, "properties");
    for (int32_t i = 0; i < device->n; i++) berth_json_string(text, device->keys[i], device->values[i]);
    if (is_kept_wide(plan, device)) berth_json_string(text, hint, "f32");
    berth_json_object_end(text);
    berth_json_object_end(text);
}

static void put_shapes(berth_text *text, const berth_plan *plan) {
    berth_json_object_begin(text, "shapes");
    for (int32_t i = 0; i < plan->n_shapes; i++) {
        berth_json_inline(text);
        berth_json_array_begin(text, plan->shapes[i].input);
        for (int32_t k = 0; k < plan->shapes[i].rank; k++) berth_json_int(text, NULL, plan->shapes[i].dims[k]);
        berth_json_array_end(text);
    }
    berth_json_object_end(text);
}

void berth_openvino_put_map(berth_text *text, const berth_openvino_plan *plan) {
    const berth_export *e = plan->export_;
    berth_text *target = NULL;
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "schema", 1);
    berth_json_string(text, "berth", berth_version());
    berth_export_put_model(e, text);
    berth_json_string(text, "runtime", "openvino");
    if (berth_text_new(e->ctx, &target) == BERTH_OK) {
        put_target(target, plan);
        berth_json_string(text, "target", berth_text_string(target));
        berth_text_free(target);
    }
    berth_json_array_begin(text, "settings");
    for (int32_t d = 0; d < plan->n_devices; d++)
        if (plan->is_used[d]) put_setting(text, plan, &plan->devices[d]);
    berth_json_array_end(text);
    put_shapes(text, e->plan);
    berth_ov_map_write(text, e->graph, plan->texts, plan->n_devices, e->placement->device);
    berth_json_object_end(text);
}

/* --- Python ----------------------------------------------------------------------------------------------------- */

static const char python[] =
    "# berth_load() opens a model (default: the IR beside this file) with the placement of the map beside this file.\n"
    "# Needs OpenVINO 2024.0 or newer.\n"
    "import json\n"
    "import openvino\n"
    "try:\n"
    "    from openvino.passes import ConstantFolding, Manager\n"
    "except ImportError:  # before 2025\n"
    "    from openvino.runtime.passes import ConstantFolding, Manager\n"
    "\n"
    "\n"
    "def berth_load(model=__file__[:-len(\".py\")], core=None):\n"
    "    with open(__file__[:-len(\".py\")] + \".berth.json\", encoding=\"utf-8\") as file:\n"
    "        plan = json.load(file)\n"
    "    core = core or openvino.Core()\n"
    "    for setting in plan[\"settings\"]:\n"
    "        if \"plugin\" in setting:  # a further name of the CPU\n"
    "            try:\n"
    "                core.register_plugin(setting[\"plugin\"], setting[\"device\"])\n"
    "            except RuntimeError:  # it is there already, or what follows will fail\n"
    "                pass\n"
    "        core.set_property(setting[\"device\"], setting[\"properties\"])\n"
    "    model = core.read_model(model)\n"
    "    shapes = {}\n"
    "    for i, port in enumerate(model.inputs):\n"
    "        for name in port.get_names() | {port.get_node().get_friendly_name()}:\n"
    "            if name in plan[\"shapes\"]:\n"
    "                shapes[i] = plan[\"shapes\"][name]\n"
    "    if shapes:\n"
    "        model.reshape(shapes)\n"
    "    manager = Manager()  # shapes that are computed must not be cut off from what they shape\n"
    "    manager.register_pass(ConstantFolding())\n"
    "    manager.run_passes(model)\n"
    "    rows = plan[\"operations\"]\n"
    "    by_tensor = {row[\"tensor\"]: row[\"device\"].split(\":\")[0] for row in reversed(rows) if row[\"tensor\"]}\n"
    "    by_name = {row[\"name\"]: row[\"device\"].split(\":\")[0] for row in reversed(rows)}\n"
    "    ops, taken, device = model.get_ordered_ops(), set(), {}\n"
    "    for op in ops:  # HETERO finds them by name\n"
    "        name, number = op.get_friendly_name(), 0\n"
    "        while op.get_friendly_name() in taken:\n"
    "            number += 1\n"
    "            op.set_friendly_name(f\"{name}#{number}\")\n"
    "        taken.add(op.get_friendly_name())\n"
    "        if op.get_type_name() not in (\"Constant\", \"Parameter\", \"Result\"):\n"
    "            tensors = [by_tensor[t] for output in op.outputs() for t in sorted(output.get_names()) if t in by_tensor]\n"
    "            found = tensors[0] if tensors else by_name.get(name)\n"
    "            if found:\n"
    "                device[op.get_friendly_name()] = found\n"
    "    at = {op.get_friendly_name(): i for i, op in enumerate(ops)}\n"
    "    for op in list(reversed(ops)) + ops:  # the rest goes with its first reader, or with what it reads\n"
    "        if op.get_friendly_name() not in device:\n"
    "            around = [i.get_node().get_friendly_name() for output in op.outputs() for i in output.get_target_inputs()]\n"
    "            around.sort(key=at.get)\n"
    "            read = [value.get_node() for value in op.input_values()]\n"
    "            around += [n.get_friendly_name() for n in read if n.get_type_name() != \"Constant\"]\n"
    "            known = [device[name] for name in around if name in device]\n"
    "            if known:\n"
    "                device[op.get_friendly_name()] = known[0]\n"
    "    for op in ops:\n"
    "        op.get_rt_info()[\"affinity\"] = device.get(op.get_friendly_name(), rows[0][\"device\"].split(\":\")[0])\n"
    "    return core.compile_model(model, plan[\"target\"])\n";

void berth_openvino_put_python(berth_text *text, const berth_openvino_plan *plan) {
    (void)plan;
    berth_text_printf(text, "# Made by berth %s.\n%s", berth_version(), python);
}

/* --- C++ -------------------------------------------------------------------------------------------------------- */

/* A string for C++: what is not plain stands as octal digits, always three, so that nothing runs into what follows. */
static void put_quoted(berth_text *text, const char *string) {
    berth_text_printf(text, "\"");
    for (; *string; string++) {
        unsigned char c = (unsigned char)*string;
        bool is_plain = c >= 0x20 && c != 0x7f && c != '"' && c != '\\' && c != '?';
        berth_text_printf(text, is_plain ? "%c" : "\\%03o", c);
    }
    berth_text_printf(text, "\"");
}

static const char cpp_head[] =
    "// berth_load() opens a model with the placement below. Needs OpenVINO 2024.0 or newer.\n"
    "#include <openvino/op/util/op_types.hpp>\n"
    "#include <openvino/openvino.hpp>\n"
    "#include <openvino/pass/constant_folding.hpp>\n"
    "#include <openvino/pass/manager.hpp>\n"
    "\n"
    "#include <map>\n"
    "#include <set>\n"
    "#include <string>\n"
    "#include <unordered_map>\n"
    "#include <unordered_set>\n"
    "\n"
    "ov::CompiledModel berth_load(ov::Core &core, const std::string &path);\n"
    "\n"
    "namespace {\n"
    "struct berth_row {\n"
    "    const char *name, *tensor, *device;\n"
    "};\n"
    "const berth_row berth_rows[] = {\n";

static const char cpp_register[] =
    "\n"
    "// A further name of the CPU.\n"
    "[[maybe_unused]] void berth_register(ov::Core &core, const char *plugin, const char *name) {\n"
    "    try {\n"
    "        core.register_plugin(plugin, name);\n"
    "    } catch (const ov::Exception &) {  // it is there already, or what follows will fail\n"
    "    }\n"
    "}\n";

static const char cpp_tail[] =
    "    auto model = core.read_model(path);\n"
    "    berth_reshape(*model);\n"
    "    ov::pass::Manager manager;  // shapes that are computed must not be cut off from what they shape\n"
    "    manager.register_pass<ov::pass::ConstantFolding>();\n"
    "    manager.run_passes(model);\n"
    "    std::unordered_map<std::string, const char *> by_tensor, by_name;\n"
    "    for (const auto &row : berth_rows) {\n"
    "        if (*row.tensor) by_tensor.emplace(row.tensor, row.device);\n"
    "        by_name.emplace(row.name, row.device);\n"
    "    }\n"
    "    auto ops = model->get_ordered_ops();\n"
    "    std::unordered_set<std::string> taken;\n"
    "    std::unordered_map<const ov::Node *, std::string> device;\n"
    "    for (const auto &op : ops) {  // HETERO finds them by name\n"
    "        const std::string name = op->get_friendly_name();\n"
    "        for (int i = 1; !taken.insert(op->get_friendly_name()).second; i++)\n"
    "            op->set_friendly_name(name + \"#\" + std::to_string(i));\n"
    "        if (ov::op::util::is_constant(op.get()) || ov::op::util::is_parameter(op.get()) ||\n"
    "            ov::op::util::is_output(op.get()))\n"
    "            continue;\n"
    "        for (const auto &output : op->outputs())\n"
    "            for (const auto &tensor : std::set<std::string>(output.get_names().begin(), output.get_names().end()))\n"
    "                if (by_tensor.count(tensor)) device.emplace(op.get(), by_tensor[tensor]);\n"
    "        if (!device.count(op.get()) && by_name.count(name)) device.emplace(op.get(), by_name[name]);\n"
    "    }\n"
    "    std::unordered_map<const ov::Node *, size_t> at;\n"
    "    for (size_t i = 0; i < ops.size(); i++) at[ops[i].get()] = i;\n"
    "    for (size_t i = 0; i < 2 * ops.size(); i++) {  // the rest goes with its first reader, or with what it reads\n"
    "        auto op = ops[i < ops.size() ? ops.size() - 1 - i : i - ops.size()].get();\n"
    "        const ov::Node *first = nullptr;\n"
    "        for (const auto &output : op->outputs())\n"
    "            for (const auto &input : output.get_target_inputs())\n"
    "                if (device.count(input.get_node()) && (!first || at[input.get_node()] < at[first]))\n"
    "                    first = input.get_node();\n"
    "        if (first) device.emplace(op, device[first]);\n"
    "        for (const auto &value : op->input_values())\n"
    "            if (device.count(value.get_node()) && !ov::op::util::is_constant(value.get_node()))\n"
    "                device.emplace(op, device[value.get_node()]);\n"
    "    }\n"
    "    for (const auto &op : ops)\n"
    "        op->get_rt_info()[\"affinity\"] =\n"
    "            device.count(op.get()) ? device[op.get()] : std::string(berth_rows[0].device);\n";

static void put_cpp_rows(berth_text *text, const berth_openvino_plan *plan) {
    const berth_export *e = plan->export_;
    for (int32_t i = 0; i < berth_graph_op_count(e->graph); i++) {
        const berth_op *op = berth_graph_op(e->graph, i);
        if (!berth_ov_map_has(op)) continue;
        berth_text_printf(text, "    {");
        put_quoted(text, op->name);
        berth_text_printf(text, ", ");
        put_quoted(text, berth_ov_map_tensor(e->graph, op));
        berth_text_printf(text, ", \"%s\"},\n", plan->devices[e->placement->device[i]].name);
    }
}

static const char cpp_reshape[] =
    "    std::map<size_t, ov::PartialShape> shapes;\n"
    "    for (size_t i = 0; i < model.inputs().size(); i++) {\n"
    "        const auto port = model.input(i);\n"
    "        for (const auto &shape : wanted)\n"
    "            if (port.get_names().count(shape.first) || port.get_node()->get_friendly_name() == shape.first)\n"
    "                shapes[i] = shape.second;\n"
    "    }\n"
    "    model.reshape(shapes);\n";

static void put_cpp_shapes(berth_text *text, const berth_plan *plan) {
    berth_text_printf(text, "};\n\nvoid berth_reshape(ov::Model &model) {\n");
    if (plan->n_shapes == 0) berth_text_printf(text, "    (void)model;\n");
    if (plan->n_shapes > 0) berth_text_printf(text, "    const std::map<std::string, ov::PartialShape> wanted = {");
    for (int32_t i = 0; i < plan->n_shapes; i++) {
        berth_text_printf(text, "%s{", i ? ", " : "");
        put_quoted(text, plan->shapes[i].input);
        berth_text_printf(text, ", ov::PartialShape{");
        for (int32_t k = 0; k < plan->shapes[i].rank; k++)
            berth_text_printf(text, "%s%" PRId64, k ? ", " : "", plan->shapes[i].dims[k]);
        berth_text_printf(text, "}}");
    }
    if (plan->n_shapes > 0) berth_text_printf(text, "};\n%s", cpp_reshape);
    berth_text_printf(text, "}\n%s}  // namespace\n\n", cpp_register);
}

void berth_openvino_put_cpp(berth_text *text, const berth_openvino_plan *plan) {
    berth_text_printf(text, "// Made by berth %s.\n%s", berth_version(), cpp_head);
    put_cpp_rows(text, plan);
    put_cpp_shapes(text, plan->export_->plan);
    berth_text_printf(text, "ov::CompiledModel berth_load(ov::Core &core, const std::string &path) {\n");
    for (int32_t d = 0; d < plan->n_devices; d++) {
        const berth_ov_device *device = &plan->devices[d];
        if (!plan->is_used[d]) continue;
        if (device->is_alias)
            berth_text_printf(text, "    berth_register(core, \"%s\", \"%s\");\n", berth_ov_device_plugin(),
                              device->name);
        for (int32_t i = 0; i < device->n + is_kept_wide(plan, device); i++) {
            berth_text_printf(text, "    core.set_property(\"%s\", ov::AnyMap{{", device->name);
            put_quoted(text, i < device->n ? device->keys[i] : hint);
            berth_text_printf(text, ", std::string(");
            put_quoted(text, i < device->n ? device->values[i] : "f32");
            berth_text_printf(text, ")}});\n");
        }
    }
    berth_text_printf(text, "%s    return core.compile_model(model, \"", cpp_tail);
    put_target(text, plan);
    berth_text_printf(text, "\");\n}\n");
}
