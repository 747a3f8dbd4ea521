// SPDX-License-Identifier: Apache-2.0
// Writes what a TorchScript archive knows of its modules and operators as a capture for stemma.
//
// usage: torch_capture MODEL.pt CAPTURE.json
#include "archive.hpp"
#include "write_capture.hpp"

#include <stemma/io/json_writer.hpp>
#include <stemma/io/output_file.hpp>

#include <torch/script.h>

#include <exception>
#include <iostream>

int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: torch_capture MODEL.pt CAPTURE.json\n";
        return 2;
    }
    try {
        const auto captured = torch_capture::from_archive(torch::jit::load(arguments[1]));
        stemma::string_sink text;
        torch_capture::write_capture(captured, text);
        stemma::output_file out(arguments[2]);
        out.write(text.text);
        out.commit();
        std::cout << captured.modules.size() << " modules, " << captured.operations.size()
                  << " operators\n";
        return 0;
    } catch (const std::exception& problem) {
        std::cerr << "torch_capture: " << problem.what() << '\n';
        return 1;
    }
}
