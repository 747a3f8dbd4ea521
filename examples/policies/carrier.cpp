// SPDX-License-Identifier: Apache-2.0
// Carrier: how are tags stored in a file? Here only the path, as the metadata entry that another
// tool expects.
#include <stemma/capture/captures.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/write_tagged.hpp>

#include <iostream>
#include <string_view>

struct path_only {
    using policy_category = stemma::carrier_category;

    template <stemma::carrier_sink Sink>
    void write(const stemma::operator_tags& tags, Sink& sink) const {
        // `strip` finds what starts with pkg.stemma.
        sink.metadata("pkg.stemma.layer",
                      tags.module.empty() ? std::string_view("-") : tags.module);
    }
};

static_assert(stemma::explain_policy<stemma::carrier_category, path_only>());

int main(int, char** arguments) {
    const stemma::attributed_model opened(arguments[1],
                                          {.captures = stemma::captures({arguments[2]})});
    const auto tagged = stemma::tagged_bytes(opened, path_only{});

    const stemma::wire_model read(tagged, "tagged");
    for (stemma::id node = 0; node < read.node_count(); ++node) {
        if (read.op_type(node) == "Softmax") {
            read.for_each_metadata(node, [&](std::string_view key, std::string_view value) {
                std::cout << read.name(node) << "\n  " << key << " = " << value << "\n";
            });
        }
    }
}
