// SPDX-License-Identifier: Apache-2.0
// The C++ part of the OpenVINO runtime (ov_module.h): only what the C interface cannot do.
//
// HETERO splits a model by the entry "affinity" in the rt_info of its operations. If one has it all must have it, and
// HETERO looks it up by friendly name, so names are made distinct first. What it made of that is told by the first line
// of what it would export: a list of its pieces with their devices; the export is stopped behind that line.
#include "runtime/ov_module.h"

#include <openvino/core/version.hpp>
#include <openvino/op/util/op_types.hpp>
#include <openvino/openvino.hpp>
#include <openvino/pass/constant_folding.hpp>
#include <openvino/pass/manager.hpp>

#include <cmath>
#include <cstdio>
#include <ostream>
#include <set>
#include <streambuf>
#include <unordered_map>
#include <unordered_set>

#define BERTH_STRING(x) #x
#define BERTH_VALUE(x)  BERTH_STRING(x)

// The handles of the C interface hold nothing but this; the test that places by them would not survive a change.
template <typename T> struct handle { std::shared_ptr<T> object; };

namespace {

using node_ptr = std::shared_ptr<ov::Node>;
using nodes = std::vector<node_ptr>;

constexpr const char *built_for =
    BERTH_VALUE(OPENVINO_VERSION_MAJOR) "." BERTH_VALUE(OPENVINO_VERSION_MINOR) "." BERTH_VALUE(OPENVINO_VERSION_PATCH);

template <typename T> T &object_of(void *c_handle) {
    return *static_cast<handle<T> *>(c_handle)->object;
}

// Run what may throw; what was thrown becomes a line.
template <typename F> int guarded(char *error, const F &work) noexcept {
    try {
        work();
        return 0;
    } catch (const std::exception &e) {
        std::snprintf(error, BERTH_OV_ERROR, "%s", e.what());
    } catch (...) {
        std::snprintf(error, BERTH_OV_ERROR, "something that is no exception was thrown");
    }
    for (char *at = error; *at; at++)
        if (*at == '\n') *at = ' ';
    return -1;
}

int check(char *error) {
    return guarded(error, [] {
        std::string loaded = ov::get_openvino_version().buildNumber;
        if (loaded.compare(0, std::string(built_for).size(), built_for) != 0)
            throw std::runtime_error("berth's module was built for OpenVINO " + std::string(built_for) +
                                     ", and this is " + loaded);
    });
}

// --- affinities -----------------------------------------------------------------------------------------------------

void make_names_distinct(const nodes &ops) {
    std::unordered_set<std::string> taken;
    for (const auto &op : ops) {
        const std::string name = op->get_friendly_name();
        for (size_t i = 1; !taken.insert(op->get_friendly_name()).second; i++)
            op->set_friendly_name(name + "#" + std::to_string(i));
    }
}

using positions = std::unordered_map<const ov::Node *, size_t>;
using devices = std::unordered_map<const ov::Node *, std::string>;

// The device of the first reader that has one, else of the first that is read from and is no constant.
std::string device_of_neighbour(const ov::Node &op, const devices &device, const positions &at) {
    const ov::Node *first = nullptr;
    for (const auto &output : op.outputs())
        for (const auto &input : output.get_target_inputs()) {
            const ov::Node *reader = input.get_node();
            if (device.count(reader) && (!first || at.at(reader) < at.at(first))) first = reader;
        }
    if (first) return device.at(first);
    for (const auto &input : op.input_values()) {
        auto found = device.find(input.get_node());
        if (found != device.end() && !ov::op::util::is_constant(input.get_node())) return found->second;
    }
    return "";
}

class places {
  public:
    places(const berth_ov_mark *marks, size_t n) {
        for (size_t i = 0; i < n; i++) {
            if (*marks[i].tensor) by_tensor_.emplace(marks[i].tensor, marks[i].device);
            by_name_.emplace(marks[i].name, marks[i].device);
        }
    }

    // The device of an operation that has a mark, by the first of its tensors' names in their order; or NULL.
    const char *find(const ov::Node &op) const {
        if (ov::op::util::is_constant(&op) || ov::op::util::is_parameter(&op) || ov::op::util::is_output(&op))
            return nullptr;
        for (const auto &output : op.outputs()) {
            const auto &names = output.get_names();
            for (const auto &name : std::set<std::string>(names.begin(), names.end())) {
                auto found = by_tensor_.find(name);
                if (found != by_tensor_.end()) return found->second;
            }
        }
        auto found = by_name_.find(op.get_friendly_name());
        return found != by_name_.end() ? found->second : nullptr;
    }

  private:
    std::unordered_map<std::string, const char *> by_tensor_, by_name_;
};

void place_all(ov::Model &model, const berth_ov_mark *marks, size_t n) {
    const places known(marks, n);
    devices device;
    positions at;
    const nodes ops = model.get_ordered_ops();
    for (size_t i = 0; i < ops.size(); i++) {
        at[ops[i].get()] = i;
        if (const char *there = known.find(*ops[i])) device[ops[i].get()] = there;
    }
    make_names_distinct(ops);
    if (device.empty()) throw std::runtime_error("none of the operations to place is in the model");
    // Readers before what they read, so that whole expressions follow; then outputs, which have no readers.
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < ops.size(); i++) {
            const ov::Node *op = ops[pass == 0 ? ops.size() - 1 - i : i].get();
            if (device.count(op)) continue;
            std::string there = device_of_neighbour(*op, device, at);
            if (!there.empty()) device[op] = there;
        }
    for (const auto &op : ops) {
        auto found = device.find(op.get());
        op->get_rt_info()["affinity"] = found != device.end() ? found->second : std::string(marks[0].device);
    }
}

int place(void *model, const berth_ov_mark *marks, size_t n, char *error) {
    return guarded(error, [&] {
        if (n == 0) throw std::runtime_error("there is nothing to place");
        ov::pass::Manager manager;
        manager.register_pass<ov::pass::ConstantFolding>();
        manager.run_passes(static_cast<handle<ov::Model> *>(model)->object);
        place_all(object_of<ov::Model>(model), marks, n);
    });
}

// --- what there is --------------------------------------------------------------------------------------------------

int refused(void *core, void *model, const char *device, void (*take)(void *, const char *), void *user, char *error) {
    return guarded(error, [&] {
        auto known = static_cast<handle<ov::Model> *>(model)->object;
        const ov::SupportedOpsMap can = object_of<ov::Core>(core).query_model(known, device);
        for (const auto &op : known->get_ordered_ops())
            if (!can.count(op->get_friendly_name())) take(user, op->get_friendly_name().c_str());
    });
}

// Keeps the first line and then refuses to take more.
class first_line : public std::streambuf {
  public:
    std::string text;
    bool complete = false;

  protected:
    int_type overflow(int_type c) override {
        char byte = traits_type::to_char_type(c);
        xsputn(&byte, 1);
        return c;
    }
    std::streamsize xsputn(const char *bytes, std::streamsize n) override {
        for (std::streamsize i = 0; i < n; i++) {
            if (bytes[i] == '\n') complete = true;
            if (complete) throw std::runtime_error("enough");
            text += bytes[i];
        }
        return n;
    }
};

int pieces(void *compiled, void (*take)(void *, const char *), void *user, char *error) {
    return guarded(error, [&] {
        static const std::string begin = "<compiled_submodel ", key = "device=\"";
        first_line line;
        std::ostream stream(&line);
        stream.exceptions(std::ios::badbit | std::ios::failbit);
        try {
            object_of<ov::CompiledModel>(compiled).export_model(stream);
        } catch (...) {
            if (!line.complete) throw;
        }
        for (size_t at = line.text.find(begin); at != std::string::npos; at = line.text.find(begin, at + 1)) {
            size_t from = line.text.find(key, at), end = line.text.find('>', at);
            if (from == std::string::npos || from > end)
                throw std::runtime_error("HETERO lists a piece without device");
            from += key.size();
            take(user, line.text.substr(from, line.text.find('"', from) - from).c_str());
        }
    });
}

std::string text_of(const ov::RTMap &info, const char *key) {
    auto found = info.find(key);
    return found != info.end() && found->second.is<std::string>() ? found->second.as<std::string>() : "";
}

int list_nodes(void *compiled, void (*take)(void *, const berth_ov_node *), void *user, char *error) {
    return guarded(error, [&] {
        auto executed = object_of<ov::CompiledModel>(compiled).get_runtime_model();
        const nodes ops = executed->get_ordered_ops();
        std::unordered_map<const ov::Node *, int32_t> number;
        for (size_t i = 0; i < ops.size(); i++) number[ops[i].get()] = static_cast<int32_t>(i);
        for (const auto &op : ops) {
            const ov::RTMap &info = op->get_rt_info();
            const std::string name = op->get_friendly_name(), type = text_of(info, "layerType"),
                              originals = text_of(info, "originalLayersNames"), micros = text_of(info, "execTimeMcs");
            berth_ov_node node = {name.c_str(), type.c_str(), originals.c_str(), NAN, -1};
            if (!micros.empty() && micros.find_first_not_of("0123456789.") == std::string::npos)
                node.ms = std::stod(micros) / 1e3;
            for (const auto &output : op->outputs())
                for (const auto &input : output.get_target_inputs()) {
                    int32_t reader = number[input.get_node()];
                    if (node.reader < 0 || reader < node.reader) node.reader = reader;
                }
            take(user, &node);
        }
    });
}

const berth_ov_module module = {BERTH_OV_MODULE_VERSION, check, place, refused, pieces, list_nodes};

} // namespace

const berth_ov_module *berth_ov_module_get(void) {
    return &module;
}
