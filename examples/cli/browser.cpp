// SPDX-License-Identifier: Apache-2.0
#include "browser.hpp"

#include "explanation_text.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <stemma/core/detail/ascii.hpp>
#include <stemma/error.hpp>
#include <stemma/query/find_modules.hpp>
#include <stemma/report/detail/shape_arithmetic.hpp>

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace cli {

namespace {

using stemma::id;
using stemma::no_id;

constexpr std::string_view keys_text =
    "arrows, hjkl    move; right opens, left closes\n"
    "enter           open or close\n"
    "*               open everything below\n"
    "/               search as you type: names, operators, queries\n"
    "n, N            next, previous match\n"
    "p               blocks of the module, or its explanation\n"
    "tab             scroll the other side\n"
    "y               copy the path\n"
    ":               run a command on the file; % is the selection\n"
    "g, G            first line, last line\n"
    "q               quit\n";

bool holds(std::string_view text, std::string_view part) {
    const auto same = [](char a, char b) {
        return stemma::detail::to_lower(a) == stemma::detail::to_lower(b);
    };
    return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

/// Returns: `text` cut to a width; shades take no columns.
std::string clipped(std::string_view text, std::size_t width) {
    std::string shown;
    std::size_t used = 0;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t length = 1;
        if (text[i] == '\033') {
            length = std::min(text.find('m', i), text.size() - 1) + 1 - i;
        } else {
            length = first_length(text.substr(i));
            used += first_width(text.substr(i));
            if (used > width) {
                i += length;
                continue;
            }
        }
        shown.append(text.substr(i, length));
        i += length;
    }
    return shown;
}

/// Appends a line wrapped to a width, preferably at blanks; continuations align with the text after
/// the label.
void append_wrapped(std::string text, std::size_t width, std::vector<std::string>& lines) {
    constexpr std::size_t label = 14;
    constexpr std::string_view plain = "\033[0m";
    const std::size_t indent = width > 3 * label ? label : 0;
    const auto room = std::max<std::size_t>(width, label);
    for (;;) {
        const auto whole = clipped(text, room);
        if (whole.size() == text.size()) {
            lines.push_back(std::move(text));
            return;
        }
        // What fits is the common beginning; only shades follow it.
        std::size_t end = 0;
        while (end < whole.size() && whole[end] == text[end]) {
            ++end;
        }
        while ((static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) {
            --end;
        }
        if (const auto blank = text.rfind(' ', end);
            blank != text.npos && text.find_first_not_of(' ') < blank && 2 * blank > end) {
            end = blank;
        }
        const auto shade_at = text.rfind('\033', end == 0 ? 0 : end - 1);
        const auto shade = shade_at == text.npos || shade_at >= end
                               ? std::string(plain)
                               : text.substr(shade_at, text.find('m', shade_at) + 1 - shade_at);
        const bool shaded = shade != plain;
        lines.push_back(text.substr(0, end).append(shaded ? plain : std::string_view()));
        const auto rest = std::min(text.find_first_not_of(' ', end), text.size());
        text = std::string(indent, ' ') + (shaded ? shade : std::string()) + text.substr(rest);
    }
}

/// Returns: the words of a command; quotes protect blanks.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    bool inside = false;
    char quote = 0;
    for (const char c : text) {
        if (quote == 0 && c == ' ') {
            inside = false;
            continue;
        }
        if (!inside) {
            words.emplace_back();
            inside = true;
        }
        if (quote == 0 && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == quote) {
            quote = 0;
        } else {
            words.back().push_back(c);
        }
    }
    return words;
}

} // namespace

browser::browser(const stemma::attributed_model& opened)
    : opened_(opened)
    , modules_(opened.modules())
    , explainer_(opened)
    , own_nodes_(modules_.size(),
                 [&](auto take) {
                     for (id v = 0; v < opened.model().node_count(); ++v) {
                         take(opened.tags().attributions[v].module, v);
                     }
                 })
    , open_(modules_.size(), false) {
    // As deep as fits the screen.
    const auto& tree = modules_.index();
    open(0, true);
    for (id m = 1; m < tree.size() && rows_.size() < 12; m = tree.end(m)) {
        open(m, tree.end(m) > m + 1);
    }
}

bool browser::has_rows(id m) const {
    return modules_.index().end(m) > m + 1 || !own_nodes_[m].empty();
}

bool browser::comes_before(const place& a, const place& b) const {
    // A module's nodes follow its submodules.
    const auto& tree = modules_.index();
    const auto key = [&](const place& p) {
        return is_module(p) ? std::tuple(2 * std::size_t{p.module}, std::size_t{0}, p.node)
                            : std::tuple(2 * std::size_t{tree.end(p.module)} - 1,
                                         tree.size() - tree.depth(p.module), p.node);
    };
    return key(a) < key(b);
}

void browser::open(id m, bool opens) {
    open_[m] = opens;
    list_rows();
}

void browser::open_all(id m) {
    const auto end = modules_.index().end(m);
    std::fill(open_.begin() + m, open_.begin() + end, true);
    list_rows();
}

void browser::list_rows() {
    const auto selected = rows_.empty() ? place() : rows_[selected_].at;
    const auto& tree = modules_.index();
    rows_.clear();
    std::vector<id> around; // modules whose nodes are pending
    const auto close_until = [&](id m) {
        while (!around.empty() && tree.end(around.back()) <= m) {
            const auto owner = around.back();
            around.pop_back();
            for (auto v : own_nodes_[owner]) {
                rows_.push_back({{owner, v}, tree.depth(owner) + 1});
            }
        }
    };
    for (id m = 0; m < tree.size();) {
        close_until(m);
        rows_.push_back({{m, no_id}, tree.depth(m)});
        if (open_[m]) {
            around.push_back(m);
            ++m;
        } else {
            m = tree.end(m);
        }
    }
    close_until(static_cast<id>(tree.size()));
    // A hidden selection moves to its visible parent.
    auto at = selected;
    for (;;) {
        const auto position = std::find_if(rows_.begin(), rows_.end(),
                                           [&](const row& each) { return each.at == at; });
        if (position != rows_.end()) {
            selected_ = static_cast<std::size_t>(position - rows_.begin());
            return;
        }
        at = is_module(at) ? place{tree.parent(at.module), no_id} : place{at.module, no_id};
    }
}

void browser::select(const place& at) {
    const auto& tree = modules_.index();
    for (auto m = is_module(at) ? tree.parent(at.module) : at.module; m != no_id;
         m = tree.parent(m)) {
        open_[m] = true;
    }
    list_rows();
    const auto position =
        std::find_if(rows_.begin(), rows_.end(), [&](const row& each) { return each.at == at; });
    selected_ = static_cast<std::size_t>(position - rows_.begin());
}

void browser::move(std::ptrdiff_t by) {
    const auto step = [by](std::size_t from, std::size_t count) {
        const auto last = static_cast<std::ptrdiff_t>(count) - 1;
        return static_cast<std::size_t>(
            std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(from) + by, 0, last));
    };
    if (in_detail_) {
        detail_top_ = step(detail_top_, std::max<std::size_t>(detail_.size(), 1));
    } else {
        selected_ = step(selected_, rows_.size());
    }
}

void browser::close_or_leave() {
    const auto at = rows_[selected_].at;
    if (is_module(at) && open_[at.module]) {
        open(at.module, false);
    } else if (!is_module(at)) {
        select({at.module, no_id});
    } else if (at.module != 0) {
        select({modules_.index().parent(at.module), no_id});
    }
}

void browser::open_or_enter() {
    const auto at = rows_[selected_].at;
    if (!is_module(at) || !has_rows(at.module)) {
        return;
    }
    if (open_[at.module]) {
        move(1);
    } else {
        open(at.module, true);
    }
}

void browser::search() {
    matches_.clear();
    message_.clear();
    if (typed_.empty()) {
        return;
    }
    const auto& model = opened_.model();
    for (id m = 0; m < modules_.size(); ++m) {
        if (holds(modules_.name(m), typed_) || holds(modules_.class_name(m), typed_) ||
            (typed_.find('.') != typed_.npos && holds(modules_.path(m), typed_))) {
            matches_.push_back({m, no_id});
        }
    }
    for (id v = 0; v < model.node_count(); ++v) {
        if (holds(model.name(v), typed_) || holds(model.op_type(v), typed_)) {
            matches_.push_back({opened_.tags().attributions[v].module, v});
        }
    }
    if (matches_.empty()) {
        try {
            const auto answer = stemma::answer_query(stemma::parse_query(opened_, typed_), opened_);
            for (auto m : answer.modules) {
                matches_.push_back({m, no_id});
            }
            for (auto v : answer.modules.empty() ? answer.nodes : std::vector<id>()) {
                matches_.push_back({opened_.tags().attributions[v].module, v});
            }
        } catch (const stemma::error& e) {
            // The file and the query are on the screen.
            const std::string_view why = e.what();
            const auto begin = why.find("query: ");
            message_ = in_one_line(why.substr(begin == why.npos ? 0 : begin + 7));
        }
    }
    std::sort(matches_.begin(), matches_.end(),
              [&](const place& a, const place& b) { return comes_before(a, b); });
    const auto first = std::find_if(matches_.begin(), matches_.end(), [&](const place& each) {
        return !comes_before(each, before_search_);
    });
    if (!matches_.empty()) {
        select(first == matches_.end() ? matches_.front() : *first);
    } else if (message_.empty()) {
        message_ = "no match";
    }
}

void browser::next_match(bool backward) {
    if (matches_.empty()) {
        message_ = "no search yet: / starts one";
        return;
    }
    const auto before = [&](const place& a, const place& b) { return comes_before(a, b); };
    const auto at = rows_[selected_].at;
    if (backward) {
        const auto here = std::lower_bound(matches_.begin(), matches_.end(), at, before);
        select(here == matches_.begin() ? matches_.back() : *std::prev(here));
    } else {
        const auto here = std::upper_bound(matches_.begin(), matches_.end(), at, before);
        select(here == matches_.end() ? matches_.front() : *here);
    }
    const auto here =
        std::lower_bound(matches_.begin(), matches_.end(), rows_[selected_].at, before);
    message_ =
        fmt::format("{} of {}", grouped(static_cast<std::uint64_t>(here - matches_.begin()) + 1),
                    counted(matches_.size(), "match"));
    if (matches_.size() > 1) {
        message_.insert(message_.size() - 1, "e");
    }
}

browser::request browser::press_in_prompt(int key) {
    const bool searches = mode_ == mode::search;
    if (key == key_gone) {
        return request::quit;
    }
    if (key == key_escape || key == key_enter) {
        mode_ = mode::walk;
        if (key == key_escape && searches) {
            matches_.clear();
            message_.clear();
            select(before_search_);
        }
        return key == key_enter && !searches && !words_of(typed_).empty() ? request::run
                                                                          : request::none;
    }
    if (key == key_backspace) {
        while (!typed_.empty() && (static_cast<unsigned char>(typed_.back()) & 0xc0U) == 0x80U) {
            typed_.pop_back();
        }
        if (typed_.empty()) {
            mode_ = mode::walk;
        } else {
            typed_.pop_back();
        }
    } else if (key >= 0x20 && key < 0x100) {
        typed_.push_back(static_cast<char>(key));
    } else {
        return request::none;
    }
    if (searches) {
        search();
    }
    return request::none;
}

browser::request browser::press(int key) {
    if (mode_ != mode::walk) {
        return press_in_prompt(key);
    }
    message_.clear();
    shows_keys_ = key == '?' && !shows_keys_;
    const auto page = static_cast<std::ptrdiff_t>(page_);
    const auto all = static_cast<std::ptrdiff_t>(rows_.size() + detail_.size());
    switch (key) {
    case 'q':
    case key_gone:
        return request::quit;
    case 'y':
        return request::copy;
    case 'k':
    case key_up:
        move(-1);
        break;
    case 'j':
    case key_down:
        move(1);
        break;
    case key_page_up:
        move(-page);
        break;
    case ' ':
    case key_page_down:
        move(page);
        break;
    case 'g':
    case key_home:
        move(-all);
        break;
    case 'G':
    case key_end:
        move(all);
        break;
    case 'h':
    case key_left:
        close_or_leave();
        break;
    case 'l':
    case key_right:
        open_or_enter();
        break;
    case key_enter: {
        const auto at = rows_[selected_].at;
        if (is_module(at) && has_rows(at.module)) {
            open(at.module, !open_[at.module]);
        }
        break;
    }
    case '*':
        if (const auto at = rows_[selected_].at; is_module(at)) {
            open_all(at.module);
        }
        break;
    case key_tab:
        in_detail_ = !in_detail_;
        break;
    case 'p':
        shows_picture_ = !shows_picture_;
        detailed_.module = no_id;
        break;
    case 'n':
        next_match(false);
        break;
    case 'N':
        next_match(true);
        break;
    case '/':
    case ':':
        mode_ = key == '/' ? mode::search : mode::command;
        typed_.clear();
        before_search_ = rows_[selected_].at;
        break;
    default:
        break;
    }
    return request::none;
}

std::string browser::selected_text() const {
    const auto at = rows_[selected_].at;
    return !is_module(at)   ? stemma::position_text(opened_.model(), at.node)
           : at.module == 0 ? std::string("''")
                            : modules_.path(at.module);
}

std::vector<std::string> browser::command() const {
    auto words = words_of(typed_);
    for (auto& word : words) {
        if (word == "%") {
            word = selected_text();
        }
    }
    return words;
}

std::string browser::tree_line(const row& shown, std::size_t width) const {
    const auto [m, node] = shown.at;
    const auto& model = opened_.model();
    const auto indent = std::min<std::size_t>(2 * std::size_t{shown.depth}, width / 2);
    const auto room = width - indent - std::min<std::size_t>(2, width - indent);
    if (node != no_id) {
        const auto name = model.name(node).empty() ? stemma::position_text(model, node)
                                                   : std::string(model.name(node));
        const auto type = line_text(model.op_type(node));
        const auto used = width_of(type) + 2;
        return std::string(indent + 2, ' ') + shaded(shortened(type, room), shade::number) +
               (room > used ? "  " + shaded(shortened(line_text(name), room - used), shade::dim)
                            : "");
    }
    const auto& counts = explainer_.counts();
    const auto name = m == 0
                          ? (modules_.class_name(0).empty() ? std::string("model") : std::string())
                          : line_text(modules_.name(m));
    const auto type = line_text(modules_.class_name(m));
    const auto numbers = counted(counts.nodes[m], "node");
    const auto label = name + (name.empty() || type.empty() ? "" : " ") + type;
    const std::string mark = !has_rows(m) ? "  " : open_[m] ? "\xe2\x96\xbe " : "\xe2\x96\xb8 ";
    if (width_of(label) + numbers.size() + 2 > room) {
        return std::string(indent, ' ') + mark + shortened(label, room);
    }
    return std::string(indent, ' ') + shaded(mark, shade::dim) + shaded(name, shade::strong) +
           (name.empty() || type.empty() ? "" : " ") + shaded(type, shade::name) +
           std::string(room - width_of(label) - numbers.size(), ' ') + shaded(numbers, shade::dim);
}

std::string browser::bottom_line(std::size_t width) const {
    if (mode_ != mode::walk) {
        const auto hint = !message_.empty()        ? message_
                          : mode_ == mode::command ? std::string()
                          : typed_.empty()         ? std::string("a name, an operator or a query")
                                                   : counted(matches_.size(), "place");
        return clipped(fmt::format("{}{}\xe2\x96\x8f  {}", mode_ == mode::search ? "/" : ":stemma ",
                                   printable(typed_), shaded(printable(hint), shade::dim)),
                       width);
    }
    const auto where = fmt::format("{}  {}/{}", line_text(selected_text()), grouped(selected_ + 1),
                                   grouped(rows_.size()));
    return clipped(message_.empty()
                       ? where +
                             shaded("  / search  p picture  : command  ? keys  q quit", shade::dim)
                       : where + "  " + printable(message_),
                   width);
}

std::string browser::picture(const place& at) {
    constexpr std::size_t most = 500;
    const auto& model = opened_.model();
    const auto& tree = modules_.index();
    const auto m = at.module;
    if (quiet_.empty()) {
        quiet_ = stemma::detail::find_shape_arithmetic(model);
    }
    std::vector<id> module;
    std::vector<bool> shown;
    for (id v = 0; v < model.node_count(); ++v) {
        module.push_back(opened_.tags().attributions[v].module);
        shown.push_back(model.op_type(v) != "Constant");
    }
    const auto folded =
        stemma::fold_graph(opened_.operators().graph(), tree, module, shown, {m, 0, most}, quiet_);
    const auto is_outside = [&](id value) {
        const auto from = value == no_id ? no_id : model.producer(value);
        return from == no_id ? value != no_id && model.kind(value) == stemma::value_kind::input
                             : shown[from] && !tree.is_ancestor(m, module[from]);
    };
    std::vector<std::string> reads(folded.boxes.size());
    for (id v = 0; v < model.node_count(); ++v) {
        const auto box = folded.box_of[v];
        const auto inputs = model.inputs(v);
        if (box != no_id && std::any_of(inputs.begin(), inputs.end(), is_outside)) {
            reads[box] = "in";
        }
    }
    for (const auto& edge : folded.edges) {
        reads[edge.to] += fmt::format("{}{}", reads[edge.to].empty() ? "" : ", ", edge.from + 1);
    }
    auto text = fmt::format("{} {}\n\n", shaded(path_text(opened_, m), shade::strong),
                            shaded(modules_.class_name(m), shade::dim));
    for (id i = 0; i < folded.boxes.size(); ++i) {
        const auto& box = folded.boxes[i];
        const bool is_here = !is_module(at) && folded.box_of[at.node] == i;
        text +=
            fmt::format("{}{:>3} {}{}\n", is_here ? "\xe2\x96\xb8" : " ", i + 1, box_text(box),
                        reads[i].empty() ? "" : shaded(" \xe2\x86\x90 " + reads[i], shade::dim));
    }
    return folded.boxes.empty() ? text + "  has no nodes\n" : text;
}

std::string browser::box_text(const stemma::folded_graph::box& box) const {
    constexpr std::size_t width = 30;
    switch (box.kind) {
    case stemma::folded_graph::box_kind::one_operator:
        return shaded(fitted(opened_.model().op_type(box.of), width), shade::number);
    case stemma::folded_graph::box_kind::closed_module:
        return shaded(
            fitted(fmt::format("{} {}", modules_.name(box.of), modules_.class_name(box.of)), width),
            shade::name);
    case stemma::folded_graph::box_kind::shape_arithmetic:
        return shaded(
            fitted(fmt::format("shape arithmetic, {}", counted(box.operators, "node")), width),
            shade::dim);
    case stemma::folded_graph::box_kind::rest:
        return fitted(fmt::format("and {} more", counted(box.operators, "node")), width);
    }
    return {};
}

const std::vector<std::string>& browser::detail_lines(std::size_t width) {
    const auto at = rows_[selected_].at;
    if (at == detailed_ && width == detail_width_) {
        return detail_;
    }
    detailed_ = at;
    detail_width_ = width;
    detail_top_ = 0;
    std::string text;
    if (shows_picture_) {
        text = picture(at);
    } else {
        stemma::explanation answer{"", {}, {}, {}, {}, {}};
        if (is_module(at)) {
            answer.modules.push_back(explainer_.explain_module(at.module));
        } else {
            answer.nodes.push_back(explainer_.explain_node(at.node));
        }
        text = explanation_text(opened_, explainer_, answer);
    }
    const auto shown = printable_shades(text);
    detail_.clear();
    for (std::size_t begin = 0; begin < shown.size();) {
        const auto end = std::min(shown.find('\n', begin), shown.size());
        append_wrapped(shown.substr(begin, end - begin), width, detail_);
        begin = end + 1;
    }
    return detail_;
}

std::vector<screen_line> browser::lines(std::size_t width, std::size_t height) {
    page_ = std::max<std::size_t>(height, 2) - 1;
    const auto column = right_column(width);
    const bool both = column < width;
    std::vector<screen_line> shown(height);
    top_ = std::min(top_, selected_);
    top_ = std::max(top_, selected_ < page_ ? 0 : selected_ - page_ + 1);
    if (both || !in_detail_) {
        for (std::size_t i = 0; i < page_ && top_ + i < rows_.size(); ++i) {
            shown[i].left =
                printable_shades(tree_line(rows_[top_ + i], both ? column - 2 : column));
            shown[i].selected = top_ + i == selected_;
        }
    }
    if (both || in_detail_) {
        const auto room = width - (both ? column : 0);
        const auto& details = detail_lines(room);
        for (std::size_t i = 0; i < page_ && detail_top_ + i < details.size(); ++i) {
            (both ? shown[i].right : shown[i].left) = details[detail_top_ + i];
        }
    }
    if (shows_keys_) {
        std::size_t i = 0;
        for (auto rest = keys_text; !rest.empty() && i < page_; ++i) {
            const auto end = rest.find('\n');
            shown[i] = {clipped(rest.substr(0, end), width), "", false};
            rest.remove_prefix(end + 1);
        }
        for (; i < page_; ++i) {
            shown[i] = {};
        }
    }
    if (height > 0) {
        shown[height - 1] = {printable_shades(bottom_line(width)), "", false};
    }
    return shown;
}

} // namespace cli
