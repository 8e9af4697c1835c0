// SPDX-License-Identifier: Apache-2.0
// run_model MODEL: a user's program, linked with an exported loader: opens the model with its placement, runs it on ones
// and prints the number of pieces, then the sum of each output.
#include <openvino/openvino.hpp>

#include <iostream>

ov::CompiledModel berth_load(ov::Core &core, const std::string &path);

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    ov::Core core;
    auto model = berth_load(core, argv[1]);
    auto request = model.create_infer_request();
    for (size_t i = 0; i < model.inputs().size(); i++) {
        ov::Tensor tensor(model.input(i).get_element_type(), model.input(i).get_shape());
        std::fill_n(tensor.data<float>(), tensor.get_size(), 1.0f);
        request.set_input_tensor(i, tensor);
    }
    request.infer();
    std::cout.precision(9);
    std::cout << model.get_property("HETERO_NUMBER_OF_SUBMODELS").as<size_t>() << '\n';
    for (size_t i = 0; i < model.outputs().size(); i++) {
        auto tensor = request.get_output_tensor(i);
        double sum = 0;
        for (size_t k = 0; k < tensor.get_size(); k++) sum += tensor.data<float>()[k] * static_cast<double>(1 + k % 7);
        std::cout << sum << '\n';
    }
    return 0;
}
