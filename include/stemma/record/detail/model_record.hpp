// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_MODEL_RECORD_HPP
#define STEMMA_RECORD_DETAIL_MODEL_RECORD_HPP

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/io/detail/json_stream.hpp>
#include <stemma/io/detail/xxh64.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/record/detail/recorded_claims.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What the model's metadata say about its tags (`stemma.model/1`, see docs/formats.md): enough to
/// compute them again without the capture.
struct model_record {
    carrier_set carriers; ///< how the tags are stored
    std::map<std::string, std::string>
        options;                          ///< how the tags were determined, as program options
    std::uint64_t nodes = 0;              ///< number of nodes when it was tagged
    std::uint64_t digest = 0;             ///< see `structure_digester`
    std::optional<std::uint64_t> names{}; ///< see `model_digests`; unknown for parts of a model
    std::optional<std::uint64_t> node_names{}; ///< the same; also unknown in older records
    bool from_model = false;          ///< the tree was derived from the model, without a capture
    std::vector<claim_runs> claims{}; ///< further claims of a capture about the nodes
    bool carried = false;             ///< tags came from an original or a whole: the first claims
                                      ///< decide, and nodes refer to an original

    /// Takes the graph as it is now.
    void describe(std::uint64_t node_count, const model_digests& digests) {
        nodes = node_count;
        digest = digests.structure;
        names = digests.names;
        node_names = digests.node_names;
    }

    /// Whether a graph is the one that was tagged.
    [[nodiscard]] bool fits(std::uint64_t node_count, const model_digests& digests) const {
        return nodes == node_count && digest == digests.structure &&
               names.value_or(digests.names) == digests.names &&
               node_names.value_or(digests.node_names) == digests.node_names;
    }

    /// Returns: one of the options, "" if it has its default.
    [[nodiscard]] std::string option(const std::string& name) const {
        const auto entry = options.find(name);
        return entry == options.end() ? std::string() : entry->second;
    }
};

/// A model's record, with the tree of its modules.
struct recorded_model : model_record {
    module_tree modules; ///< at the time of tagging
};

template <class Writer>
void write_tensors(Writer& json, const module_tree& modules, id m, bool buffers) {
    const auto count = buffers ? modules.buffer_count(m) : modules.parameter_count(m);
    json.begin_array(true);
    for (std::size_t i = 0; i < count; ++i) {
        const auto tensor = buffers ? modules.buffer(m, i) : modules.parameter(m, i);
        json.begin_array(true);
        json.value(tensor.name);
        json.begin_array(true);
        for (auto extent : tensor.shape) {
            json.value(extent);
        }
        json.end_array();
        json.value(tensor.dtype);
        json.value(tensor.trainable);
        json.end_array();
    }
    json.end_array();
}

/// Reads the output of `to_json(model_record, module_tree)`.
class record_reader final : public json_handler {
public:
    explicit record_reader(std::string_view file) : file_(file) {}

    void element(const std::string& path, json_part part) override {
        if (path == "carriers") {
            if (part.is_text()) {
                record_.carriers.add(part.text());
            }
        } else if (path == "classes") {
            classes_.emplace_back(part.text());
        } else if (path == "modules") {
            read_module(part);
        } else if (path == "aliases") {
            aliases_.emplace_back(part[0].text(), number(part[1]));
        } else if (path == "captured") {
            if (claims_.size() == max_claim_tables) {
                fail("has more tables of claims than there are sources");
            }
            claims_.emplace_back(part);
        } else if (path == "shared_parameters") {
            builder_.add_shared_parameters(part.texts());
        }
    }

    void scalar(const std::string& path, json_part part) override {
        if (path == "schema" && !(part == "stemma.model/1")) {
            fail("has a schema other than stemma.model/1");
        } else if (path == "nodes") {
            record_.nodes = number(part);
        } else if (path == "digest") {
            record_.digest = hexadecimal(part);
        } else if (path == "names") {
            record_.names = hexadecimal(part);
        } else if (path == "node_names") {
            record_.node_names = hexadecimal(part);
        } else if (path == "from_model") {
            record_.from_model = part.boolean();
        } else if (path == "carried") {
            record_.carried = part.boolean();
        } else if (path.starts_with("options.")) {
            record_.options[path.substr(8)] = part.text();
        }
    }

    [[nodiscard]] recorded_model finish() {
        if (count_ == 0) {
            fail("has no modules");
        }
        for (auto& [path, module] : aliases_) {
            check_module(module);
            builder_.add_alias(std::move(path), module);
        }
        record_.modules = builder_.build();
        for (const auto& kept : claims_) {
            auto claims = read_claims(kept.part(), record_.nodes, record_.modules.size());
            if (!claims) {
                fail("contains claims that do not fit the model");
            }
            record_.claims.push_back(std::move(*claims));
        }
        return std::move(record_);
    }

    [[noreturn]] void fail(std::string_view reason) const {
        STEMMA_THROW(error(error_code::malformed, file_, std::string(model_key), reason));
    }

private:
    [[nodiscard]] static std::uint64_t hexadecimal(json_part part) {
        return std::stoull(std::string(part.text()), nullptr, 16);
    }

    [[nodiscard]] id number(json_part part) const {
        if (!part.is_number<id>() || part.number<id>() == no_id) {
            fail("has a non-number where a number is expected");
        }
        return part.number<id>();
    }

    void check_module(id m) const {
        if (m >= count_) {
            fail("names a module that it does not list");
        }
    }

    /// [parent, name, class, qualified class, calls, parameters, buffers]
    void read_module(json_part part) {
        const auto name = part[1].text();
        id m = 0;
        if (count_ == 0) {
            builder_.set_root_name(name);
        } else {
            const auto parent = number(part[0]);
            check_module(parent);
            m = builder_.child(parent, name);
            if (m != count_) {
                fail("lists a module twice");
            }
        }
        ++count_;
        const auto class_at = [&](std::size_t i) {
            return part[i].is_null() ? std::string() : classes_.at(number(part[i]));
        };
        const auto class_name = class_at(2);
        if (!class_name.empty()) {
            builder_.set_class(m, class_name, class_at(3));
        }
        if (!part[4].is_null()) {
            builder_.set_calls(m, number(part[4]));
        }
        read_tensors(part, 5, m, false);
        read_tensors(part, 6, m, true);
    }

    void read_tensors(json_part part, std::size_t i, id m, bool buffers) {
        if (part.size() <= i) {
            return;
        }
        for (const auto tensor : part[i]) {
            const auto shape = tensor[1].numbers<std::int64_t>();
            const tensor_info info{tensor[0].text(), tensor[2].text(), shape, tensor[3].boolean()};
            buffers ? builder_.add_buffer(m, info) : builder_.add_parameter(m, info);
        }
    }

    std::string file_;
    recorded_model record_{{.carriers = {.metadata = false}, .options = {}}, {}};
    module_tree_builder builder_;
    std::vector<std::string> classes_;
    std::vector<std::pair<std::string, id>> aliases_;
    std::vector<json_value> claims_;
    id count_ = 0;
};

/// Returns: the record of a model with these modules as one line of JSON.
/// Complexity: O(length).
[[nodiscard]] inline std::string to_json(const model_record& record, const module_tree& modules) {
    return json_line([&](auto& json) {
        json.member("schema", "stemma.model/1");
        json.flat_list("carriers", [&] {
            carrier_set::for_each_name(record.carriers, [&](std::string_view name, bool used) {
                used ? json.value(name) : void();
            });
        });
        json.object("options", [&] {
            for (const auto& [name, value] : record.options) {
                json.member(name, value);
            }
        });
        json.member("nodes", record.nodes);
        json.member("digest", to_hex(record.digest));
        if (record.names) {
            json.member("names", to_hex(*record.names));
        }
        if (record.node_names) {
            json.member("node_names", to_hex(*record.node_names));
        }
        json.member("from_model", record.from_model);
        if (record.carried) {
            json.member("carried", true);
        }
        const auto has_class = [&](id m) { return !modules.class_name(m).empty(); };
        string_pool classes;
        bool unknown = false; // "" once for all of them
        for (id m = 0; m < modules.size(); ++m) {
            if (has_class(m) || !std::exchange(unknown, true)) {
                classes.intern(modules.class_name(m));
                classes.intern(modules.qualified_class(m));
            }
        }
        json.flat_list("classes", [&] {
            for (id c = 0; c < classes.size(); ++c) {
                json.value(classes[c]);
            }
        });
        const auto number_or_null = [&](bool has_number, id number) {
            has_number ? json.value(number) : json.null();
        };
        json.flat_list("modules", [&] {
            for (id m = 0; m < modules.size(); ++m) {
                json.begin_array(true);
                number_or_null(m != 0, m == 0 ? 0 : modules.index().parent(m));
                json.value(modules.name(m));
                const bool is_known = has_class(m);
                number_or_null(is_known, is_known ? classes.find(modules.class_name(m)) : no_id);
                number_or_null(is_known,
                               is_known ? classes.find(modules.qualified_class(m)) : no_id);
                number_or_null(modules.calls(m) != no_id, modules.calls(m));
                if (modules.parameter_count(m) + modules.buffer_count(m) > 0) {
                    detail::write_tensors(json, modules, m, false);
                    detail::write_tensors(json, modules, m, true);
                }
                json.end_array();
            }
        });
        json.flat_list("aliases", modules.aliases(),
                       [&](const auto& alias) { json.row(alias.path, alias.module); });
        json.flat_list("shared_parameters", modules.shared_parameters(), [&](const auto& group) {
            json.begin_array(true);
            for (const auto& path : group) {
                json.value(path);
            }
            json.end_array();
        });
        if (!record.claims.empty()) {
            json.flat_list("captured", record.claims,
                           [&](const auto& claims) { write_claims(json, claims); });
        }
    });
}

/// Throws: `error` of `error_code::malformed`, naming `file`.
[[nodiscard]] inline recorded_model read_model_record(std::string_view text,
                                                      std::string_view file) {
    detail::record_reader reader(file);
    try {
        stream_json(text, std::string(file) + ": " + std::string(model_key), reader);
    } catch (const std::out_of_range&) {
        reader.fail("does not conform to stemma.model/1");
    } catch (const std::invalid_argument&) {
        reader.fail("does not conform to stemma.model/1");
    }
    return reader.finish();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_MODEL_RECORD_HPP
