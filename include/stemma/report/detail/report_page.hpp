// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DETAIL_REPORT_PAGE_HPP
#define STEMMA_REPORT_DETAIL_REPORT_PAGE_HPP

#include <stemma/config.hpp>

#include <string_view>

namespace stemma::detail {

/// What stands before the title of a report. The policy keeps it from loading anything.
inline constexpr std::string_view report_head = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
)html";

inline constexpr std::string_view report_style = R"css(
:root {
  --page: #f8fafc; --panel: #ffffff; --ink: #0f172a; --soft: #475569; --line: #cbd5e1;
  --hover: #eef2f7; --accent: #1d4ed8; --chosen: #dbeafe; --bar: #93c5fd; --bad: #b91c1c;
  --s: 75%; --l: 92%; --edge: #64748b; --end: #e2e8f0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0b1120; --panel: #111a2e; --ink: #e2e8f0; --soft: #94a3b8; --line: #2b3a55;
    --hover: #1a2540; --accent: #93c5fd; --chosen: #1e3a5f; --bar: #2f5f9e; --bad: #fca5a5;
    --s: 35%; --l: 24%; --edge: #8394ad; --end: #26334d;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; height: 100vh; display: flex; flex-direction: column; background: var(--page);
  color: var(--ink); font: 14px/1.45 system-ui, "Helvetica Neue", Arial, sans-serif;
}
button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
header {
  padding: 8px 16px; border-bottom: 1px solid var(--line); background: var(--panel);
  display: flex; flex-wrap: wrap; gap: 4px 18px; align-items: baseline;
}
header h1 { font-size: 16px; margin: 0; overflow-wrap: anywhere; }
header span { color: var(--soft); white-space: nowrap; }
header b { color: var(--ink); font-weight: 600; }
main { flex: 1; display: flex; min-height: 0; }
#side {
  width: 400px; min-width: 220px; max-width: 70vw; display: flex; flex-direction: column;
  border-right: 1px solid var(--line); background: var(--panel); resize: horizontal; overflow: hidden;
}
#search {
  margin: 10px; padding: 6px 10px; font: inherit; color: inherit; background: var(--page);
  border: 1px solid var(--line); border-radius: 6px;
}
#tree, #found { flex: 1; overflow: auto; padding: 0 6px 12px; }
#tree ul { list-style: none; margin: 0; padding-left: 14px; }
#tree > ul { padding-left: 0; }
.row {
  display: flex; align-items: center; gap: 6px; padding: 1px 6px; border-radius: 5px;
  white-space: nowrap; cursor: pointer;
}
.row:hover { background: var(--hover); }
.row.chosen { background: var(--chosen); }
.row .toggle { width: 14px; flex: none; color: var(--soft); font-size: 10px; }
.row .label { flex: 1; overflow: hidden; text-overflow: ellipsis; }
.row.empty .label { opacity: 0.6; }
.row .share { width: 44px; height: 6px; flex: none; border-radius: 3px; background: var(--hover); }
.row .share i { display: block; height: 6px; border-radius: 3px; background: var(--bar); }
.row .count { width: 46px; flex: none; text-align: right; color: var(--soft); font-variant-numeric: tabular-nums; }
.class { background: hsl(var(--h) var(--s) var(--l)); border-radius: 4px; padding: 0 5px; font-size: 12px; }
#content { flex: 1; overflow: auto; padding: 14px 18px; min-width: 0; }
#content h2 { margin: 0 0 4px; font-size: 18px; overflow-wrap: anywhere; }
.way button { color: var(--accent); }
.way button:hover, .link:hover { text-decoration: underline; }
.facts { display: flex; flex-wrap: wrap; gap: 2px 18px; color: var(--soft); margin: 4px 0 10px; }
.facts b { color: var(--ink); font-weight: 600; }
.tag { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12px; overflow-wrap: anywhere; color: var(--soft); }
.tabs { display: flex; flex-wrap: wrap; gap: 4px; border-bottom: 1px solid var(--line); margin-bottom: 10px; }
.tabs button { padding: 5px 10px; border-radius: 6px 6px 0 0; color: var(--soft); }
.tabs button[aria-selected="true"] { color: var(--ink); font-weight: 600; box-shadow: inset 0 -2px var(--accent); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 3px 12px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); position: sticky; top: -14px; background: var(--page); }
td { overflow-wrap: anywhere; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.link { color: var(--accent); text-align: left; overflow-wrap: anywhere; }
.type { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12px; color: var(--soft); }
.more { margin: 8px 0; color: var(--accent); }
.note { color: var(--soft); }
.bad { color: var(--bad); }
.graph { overflow: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--panel); max-height: 74vh; }
.tools { display: flex; gap: 6px; margin-bottom: 6px; align-items: center; color: var(--soft); }
.tools button { border: 1px solid var(--line); border-radius: 5px; min-width: 28px; padding: 1px 8px; background: var(--panel); }
svg { display: block; margin: auto; }
svg text { font-size: 12px; fill: var(--ink); text-anchor: middle; dominant-baseline: central; }
svg .sub, svg .flow { font-size: 10px; fill: var(--soft); }
svg .flow { text-anchor: start; }
svg .box rect { fill: var(--panel); stroke: var(--edge); }
svg .box { cursor: pointer; }
svg .box:hover rect, svg .box.chosen rect { stroke: var(--accent); stroke-width: 2.5; }
svg .module rect { fill: hsl(var(--h) var(--s) var(--l)); stroke-width: 1.6; }
svg .module text:first-of-type { font-weight: 600; }
svg .end rect { fill: var(--end); stroke: var(--line); }
svg .end { cursor: default; }
svg .rest rect { stroke-dasharray: 4 3; }
svg path.edge { fill: none; stroke: var(--edge); stroke-width: 1.1; }
svg path.edge.back { stroke-dasharray: 5 3; }
svg .tip { fill: var(--edge); }
#detail { width: 330px; overflow: auto; border-left: 1px solid var(--line); background: var(--panel); padding: 14px; }
#detail[hidden] { display: none; }
#detail h3 { margin: 0 0 4px; font-size: 15px; overflow-wrap: anywhere; }
#detail h4 { margin: 12px 0 2px; font-size: 12px; color: var(--soft); font-weight: 600; }
#detail .close { float: right; color: var(--soft); }
#detail div { overflow-wrap: anywhere; }
@media (max-width: 800px) {
  main { flex-direction: column; overflow: auto; }
  #side, #detail { width: auto; max-width: none; resize: none; border: 0; min-height: 40vh; }
  #content { overflow: visible; }
  body { height: auto; min-height: 100vh; }
}
)css";

inline constexpr std::string_view report_body = R"html(<body>
<header id="head"></header>
<main>
<nav id="side" aria-label="Modules">
<input id="search" type="search" placeholder="Search modules and nodes" aria-label="Search modules and nodes">
<div id="tree"></div>
<div id="found" hidden></div>
</nav>
<section id="content" aria-live="polite"></section>
<aside id="detail" hidden aria-label="Node"></aside>
</main>
<noscript>This report needs JavaScript; it loads nothing from elsewhere.</noscript>
)html";

} // namespace stemma::detail

#endif // STEMMA_REPORT_DETAIL_REPORT_PAGE_HPP
