// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_WEB_WEB_SESSION_HPP
#define STEMMA_EXAMPLES_WEB_WEB_SESSION_HPP

#include <memory>
#include <string>
#include <string_view>

namespace web {

/// Answers the page's requests, as JSON, about the model `a`, or about `a` and `b`.
/// Uses the same library functions as the program's JSON output.
class session {
public:
    session();
    ~session();

    /// Throws: `stemma::error`, and nlohmann's exceptions for malformed requests.
    [[nodiscard]] std::string call(std::string_view request);

    /// The texts of the last file to download.
    [[nodiscard]] const std::string& made() const noexcept;

private:
    class answers;

    std::unique_ptr<answers> answers_;
};

} // namespace web

#endif // STEMMA_EXAMPLES_WEB_WEB_SESSION_HPP
