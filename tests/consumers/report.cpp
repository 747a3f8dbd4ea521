// SPDX-License-Identifier: Apache-2.0
// Uses stemma::report like a user's program: writes the page of a model.
#include <stemma/io/json_writer.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma_report/html_report.hpp>

#include <iostream>

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    stemma::attributed_model opened(argv[1], {});
    stemma::string_sink page;
    stemma_report::write_html_report(page, opened);
    std::cout << page.text.size() << " bytes\n";
    return page.text.find("</html>") == page.text.npos ? 1 : 0;
}
