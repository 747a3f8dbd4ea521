// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WIRE_HPP
#define STEMMA_WIRE_HPP

#include <stemma/io/capture.hpp>
#include <stemma/io/file.hpp>
#include <stemma/io/json_stream.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/io/oracle.hpp>
#include <stemma/onnx/cut_plan.hpp>
#include <stemma/onnx/cut_planner.hpp>
#include <stemma/onnx/flat_graph.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/model_record.hpp>
#include <stemma/onnx/model_tables.hpp>
#include <stemma/onnx/module_statistics.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/operator_dependence.hpp>
#include <stemma/onnx/schema_changes.hpp>
#include <stemma/onnx/sidecar.hpp>
#include <stemma/onnx/structure_digest.hpp>
#include <stemma/onnx/summary.hpp>
#include <stemma/onnx/tag_texts.hpp>
#include <stemma/onnx/value_tags.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>
#include <stemma/onnx/wire/byte_rope.hpp>
#include <stemma/onnx/wire/cut_model.hpp>
#include <stemma/onnx/wire/external_data.hpp>
#include <stemma/onnx/wire/graph_extras.hpp>
#include <stemma/onnx/wire/infer_shapes.hpp>
#include <stemma/onnx/wire/message_edits.hpp>
#include <stemma/onnx/wire/node_attributes.hpp>
#include <stemma/onnx/wire/random_nodes.hpp>
#include <stemma/onnx/wire/read_tags.hpp>
#include <stemma/onnx/wire/rewrite.hpp>
#include <stemma/onnx/wire/tag_edits.hpp>
#include <stemma/onnx/wire/tag_model.hpp>
#include <stemma/onnx/wire/tensor_header.hpp>
#include <stemma/onnx/wire/value_renaming.hpp>
#include <stemma/onnx/wire/value_types.hpp>
#include <stemma/onnx/wire/weight_store.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/onnx/wire/wire_reader.hpp>
#include <stemma/stemma.hpp>

#endif // STEMMA_WIRE_HPP
