// SPDX-License-Identifier: Apache-2.0
// Diagnostics: which findings matter? Here findings about tags are errors, all others information.
#include <stemma/tagging/diagnostics.hpp>

#include <iostream>
#include <vector>

struct tags_first {
    using policy_category = stemma::diagnostics_category;

    [[nodiscard]] std::optional<stemma::severity> judge(const stemma::finding& finding) const {
        return finding.code.starts_with("tags.") ? stemma::severity::error
                                                 : stemma::severity::information;
    }
};

/// A check that reports its findings to a callback, like `check_model`.
template <class Report>
void look(Report report) {
    report({"tags.none", stemma::no_id, "has no tags", stemma::severity::information, "model"});
    report({"value.type", 3, "has no type", stemma::severity::warning, "value 'x'"});
}

template <stemma::diagnostics_policy Policy>
void show(const char* name, const Policy& policy) {
    std::cout << name << "\n";
    look(stemma::judged(policy, [](const stemma::finding& finding) {
        std::cout << "  " << to_string(finding.level) << ": " << finding.place << ": "
                  << finding.text << "\n";
    }));
}

int main() {
    static_assert(stemma::explain_policy<stemma::diagnostics_category, tags_first>());
    show("as_found", stemma::as_found{});
    show("warnings_as_errors", stemma::warnings_as_errors{});
    show("without_findings", stemma::without_findings{{"tags.*"}});
    show("tags_first", tags_first{});
}
