// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_TORCH_WRITE_CAPTURE_HPP
#define STEMMA_EXAMPLES_TORCH_WRITE_CAPTURE_HPP

// A capture in memory as a file.

#include "modules.hpp"

#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>

#include <cstddef>
#include <string>

namespace torch_capture {

/// Writes a `stemma.capture/1`.
template <class Sink>
void write_capture(const captured_model& captured, Sink& sink) {
    const auto& modules = captured.modules;
    const auto& operations = captured.operations;
    stemma::json_writer json(sink);
    const auto list = [&](const char* key, bool flat, auto fill) {
        json.key(key);
        json.begin_array(flat);
        fill();
        json.end_array();
    };
    const auto write_shape = [&](const auto& shape) {
        json.begin_array(true);
        for (const auto extent : shape) {
            json.value(extent);
        }
        json.end_array();
    };
    const auto write_tensor = [&](const stemma::tensor_info& tensor) {
        json.begin_object(true);
        json.member("name", tensor.name);
        json.key("shape");
        write_shape(tensor.shape);
        json.member("dtype", tensor.dtype);
        json.member("trainable", tensor.trainable);
        json.end_object();
    };
    const auto write_module = [&](stemma::id m) {
        json.begin_object(true);
        json.member("name", modules.path(m));
        json.member("class_name", modules.class_name(m));
        json.member("qualified_class", modules.qualified_class(m));
        if (modules.calls(m) != stemma::no_id) {
            json.member("calls", modules.calls(m));
        }
        list("own_parameters", true, [&] {
            for (std::size_t i = 0; i < modules.parameter_count(m); ++i) {
                write_tensor(modules.parameter(m, i));
            }
        });
        list("own_buffers", true, [&] {
            for (std::size_t i = 0; i < modules.buffer_count(m); ++i) {
                write_tensor(modules.buffer(m, i));
            }
        });
        json.end_object();
    };
    const auto write_operation = [&](stemma::id i) {
        json.begin_object(true);
        json.member("op", operations.names()[operations.names_of(i).front()]);
        json.member("module", modules.path(operations[i].module));
        json.member("call", operations[i].call);
        list("in_ids", true, [&] {
            for (const auto& parameter : operations.parameters_of(i)) {
                json.value("p:" + std::string(operations.parameter_names()[parameter.name]));
            }
            bool varies = false;
            for (const auto source : operations.sources_of(i)) {
                json.value("t" + std::to_string(source));
                varies = varies || operations[source].varies;
            }
            if (operations[i].varies && !varies) {
                json.value("input");
            }
        });
        list("input_shapes", true, [&] {
            for (const auto& parameter : operations.parameters_of(i)) {
                write_shape(parameter.shape);
            }
        });
        list("out_ids", true, [&] { json.value("t" + std::to_string(i)); });
        json.end_object();
    };
    json.begin_object();
    json.member("schema", "stemma.capture/1");
    json.member("root_class", modules.class_name(0));
    list("modules", false, [&] {
        for (stemma::id m = 0; m < modules.size(); ++m) {
            write_module(m);
        }
    });
    list("aliases", false, [&] {
        for (const auto& alias : modules.aliases()) {
            json.begin_object(true);
            json.member("alias", alias.path);
            json.member("canonical", modules.path(alias.module));
            json.end_object();
        }
    });
    list("shared_parameters", false, [&] {
        for (const auto& paths : modules.shared_parameters()) {
            json.begin_array(true);
            for (const auto& path : paths) {
                json.value(path);
            }
            json.end_array();
        }
    });
    json.key("torchscript");
    json.begin_object();
    list("operations", false, [&] {
        for (stemma::id i = 0; i < operations.size(); ++i) {
            write_operation(i);
        }
    });
    json.end_object();
    json.end_object();
    json.finish();
}

} // namespace torch_capture

#endif // STEMMA_EXAMPLES_TORCH_WRITE_CAPTURE_HPP
