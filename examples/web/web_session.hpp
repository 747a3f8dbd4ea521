// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_WEB_WEB_SESSION_HPP
#define STEMMA_EXAMPLES_WEB_WEB_SESSION_HPP

#include "sparse_file.hpp"

#include <stemma/core/id.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/record/module_statistics.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace web {

/// A file to download, in pieces: generated texts, and ranges of the opened file, which are not
/// read here.
class pieces {
public:
    explicit pieces(const sparse_file& from) : from_(from) {}

    void write(std::string_view text);

    /// Returns: `{"pieces":[[from,size],[-1,size],...]}`: a range of the file, or the next `size`
    /// bytes of `text`.
    [[nodiscard]] std::string list() const;

    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    struct piece {
        bool made;
        std::size_t begin; // of a range
        std::size_t size;
    };

    const sparse_file& from_;
    std::string text_;
    std::vector<piece> all_;
};

/// Answers the page's requests, as JSON, about the model `a`, or about `a` and `b`.
/// Uses the same library functions as the program's JSON output.
class session {
public:
    /// Throws: `stemma::error`, and nlohmann's exceptions for malformed requests.
    [[nodiscard]] std::string call(std::string_view request);

    /// The texts of the last file to download.
    [[nodiscard]] const std::string& made() const noexcept { return made_; }

private:
    struct slot {
        std::unique_ptr<sparse_file> file;
        std::vector<std::string> captures;
        std::unique_ptr<stemma::attributed_model> model;
        stemma::module_statistics counts;
        std::unique_ptr<stemma::model_cost> cost; // as soon as it was asked for
    };
    using json = nlohmann::json;
    using verb = std::string (session::*)(const json& asked);

    static const std::array<std::pair<std::string_view, verb>, 17> verbs;

    std::string open(const json& asked);
    std::string outline(const json& asked);
    std::string tree(const json& asked);
    std::string tags(const json& asked);
    std::string explain(const json& asked);
    std::string query(const json& asked);
    std::string matches(const json& asked);
    std::string cost(const json& asked);
    std::string costs(const json& asked);
    std::string rows(const json& asked);
    std::string search(const json& asked);
    std::string graph(const json& asked);
    std::string tag(const json& asked);
    std::string cut(const json& asked);
    std::string report(const json& asked);
    std::string diff(const json& asked);
    std::string carry(const json& asked);

    [[nodiscard]] slot& slot_of(const json& asked);
    [[nodiscard]] stemma::attributed_model& model_of(const json& asked);
    [[nodiscard]] stemma::id module_of(const json& asked);
    [[nodiscard]] std::string handed(std::string list, std::string made);
    void read_all();

    slot first_;
    slot second_;
    std::string made_;
};

} // namespace web

#endif // STEMMA_EXAMPLES_WEB_WEB_SESSION_HPP
