// SPDX-License-Identifier: Apache-2.0
// Evidence: which module does a source claim for an operator? Here a hand-written list, `type:
// path`, beside the sources that read names.
#include "small_model.hpp"

#include <stemma/evidence/evidence.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/evidence_sources.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/module_lookup.hpp>

#include <map>
#include <string>

class by_list {
public:
    using policy_category = stemma::evidence_category;

    explicit by_list(std::map<std::string, std::string> paths) : paths_(std::move(paths)) {}

    /// Read once, before operators are queried.
    template <class Ops, class Modules>
    [[nodiscard]] auto prepare(stemma::evidence_context<Ops, Modules>& context) const {
        std::map<std::string, stemma::id, std::less<>> modules;
        for (stemma::id m = 0; m < context.index().size(); ++m) {
            for (const auto& [type, path] : paths_) {
                if (stemma::path_of(context.modules(), m) == path) {
                    modules[type] = m;
                }
            }
        }
        return claims<Ops>{&context.ops(), std::move(modules)};
    }

private:
    template <class Ops>
    struct claims {
        const Ops* ops;
        std::map<std::string, stemma::id, std::less<>> modules;

        template <class Function>
        void for_each_claim(stemma::operator_t<Ops> v, Function f) const {
            if (const auto entry = modules.find(ops->op_type(v)); entry != modules.end()) {
                f(stemma::claim{entry->second, stemma::no_id, 0.8F, stemma::provenance::metadata});
            }
        }
    };

    std::map<std::string, std::string> paths_;
};

int main() {
    const auto graph = make_graph();
    const auto ops = view_of(graph);
    const auto modules = make_modules();
    static_assert(stemma::explain_policy<stemma::evidence_category, by_list, decltype(ops),
                                         stemma::module_tree>());
    const by_list list(std::map<std::string, std::string>{{"Relu", "stem"}});
    const stemma::evidence_sources sources(list, stemma::scope_names{});
    print(graph, modules, stemma::tag_operators(ops, modules, stemma::policies{sources}));
}
