"""How a report looks: light and dark, on paper, and on a screen as narrow as a telephone's."""

STYLE = """
:root { color-scheme: light dark; --ink: #1b2230; --soft: #556072; --line: #dbe0e8; --paper: #ffffff; --tint: #f4f6f9;
  --before: #8d98a8; --after: #1f6fb2; --good: #1b6b3a; --good-tint: #e6f4ea; --bad: #a32018; --bad-tint: #fdecea; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7eaf0; --soft: #a5afbf; --line: #363f4e; --paper: #14181f; --tint: #1d232d; --before: #78849a;
    --after: #62aee8; --good: #7fd19b; --good-tint: #17301f; --bad: #ff9c92; --bad-tint: #3a1a17; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink);
  background: var(--paper); margin: 0 auto; max-width: 56rem; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .5rem; padding-top: .6rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p, ul { margin: .4rem 0; max-width: 46rem; }
li { margin: .45rem 0; }
.soft { color: var(--soft); }
.verdict { display: inline-block; padding: .3rem .7rem; border-radius: .4rem; font-weight: 600; }
.verdict.good { color: var(--good); background: var(--good-tint); }
.verdict.bad { color: var(--bad); background: var(--bad-tint); }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: 1rem 0; font-size: .92rem; }
a { color: var(--after); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 11rem), 1fr)); gap: .7rem;
  margin: 1rem 0; }
.tile { background: var(--tint); border-radius: .5rem; padding: .7rem .9rem; }
.tile b { display: block; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .9rem; }
li.serious, p.warning { border-left: .25rem solid var(--bad); background: var(--bad-tint); padding: .4rem .7rem;
  list-style: none; border-radius: 0 .3rem .3rem 0; }
ul:has(> li.serious) { padding-left: 1.2rem; }
li.serious { margin-left: -1.2rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; margin: .6rem 0; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { text-align: left; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  font-weight: inherit; }
thead th { color: var(--soft); font-size: .88rem; }
tbody th { font-weight: 500; }
table.stack th:first-child { width: 52%; }
table.roles th:first-child { width: 28%; }
table.facts th { width: 42%; color: var(--soft); font-weight: 400; }
table.bars { table-layout: fixed; margin-bottom: 1.2rem; }
table.bars th:first-child { width: 38%; }
table.bars td:last-child, table.bars thead th:last-child { width: 24%; text-align: right; padding-right: 0; }
table.bars td.bar { width: 38%; }
.pictures table.bars th:first-child { width: 30%; } .pictures table.bars td.bar { width: 32%; }
.pictures table.bars td:last-child, .pictures table.bars thead th:last-child { width: 38%; }
table.bars th, table.bars td { padding-top: .2rem; padding-bottom: .2rem; border-bottom: 0; }
table.bars tr.warn th, table.bars tr.warn td { color: var(--bad); font-weight: 600; }
td.bar svg { display: block; width: 100%; height: 1.1rem; margin-top: .2rem; background: var(--tint); }
.s0 { fill: var(--after); } .s0:has(+ .s1), .key.s0 { fill: var(--before); } .s1 { fill: var(--after); }
tr.warn .s0 { fill: var(--bad); }
.span { fill: var(--before); opacity: .65; } .mark { fill: var(--after); }
.legend { display: inline-flex; gap: .9rem; font-weight: 400; font-size: .9rem; color: var(--soft);
  margin-left: .8rem; }
.key { display: inline-block; width: .8rem; height: .8rem; margin-right: .35rem; background: var(--before); }
.key.s1 { background: var(--after); }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 0 2rem;
  align-items: start; }
svg.front { display: block; width: 100%; max-width: 36rem; height: auto; font-size: 11.5px; margin: .6rem 0; }
svg.front text { fill: var(--ink); } svg.front .tick { fill: var(--soft); font-size: 10.5px; }
svg.front .number { font-size: 11px; font-weight: 600; }
.axis { stroke: var(--soft); stroke-width: 1; } .grid { stroke: var(--line); stroke-width: .6; }
path.steps { fill: none; stroke: var(--after); stroke-width: 1.2; }
path.bound { fill: none; stroke: var(--before); stroke-width: 1.2; stroke-dasharray: 3 3; }
.point { fill: var(--after); } .knee { fill: var(--paper); stroke: var(--after); stroke-width: 2; }
.chosen { fill: var(--bad); stroke: var(--paper); stroke-width: 1.5; }
.line-key { display: inline-flex; align-items: center; gap: .4rem; margin-right: 1.1rem; font-size: .9rem; }
td.number, th.number { text-align: right; padding-right: 0; padding-left: .6rem; }
td.number + td:not(.number), th.number + th:not(.number) { padding-left: 1.4rem; }
table.stack:not(.plain) thead th { overflow-wrap: break-word; }
table.even { table-layout: fixed; } table.stack.even th:first-child { width: 24%; overflow-wrap: anywhere; }
table.stack.plain th:first-child { width: auto; } table.plain { font-size: .9rem; }
table.plain th, table.plain td { min-width: 4rem; }
details > summary { cursor: pointer; font-weight: 600; margin: 1rem 0 .4rem; }
code, pre { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: var(--tint); padding: .7rem .9rem; border-radius: .4rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }
@media (max-width: 34rem) {
  body { font-size: 15px; }
  table.stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.stack th:first-child { width: auto; }
  table.stack, table.stack tbody, table.stack tr, table.stack th, table.stack td { display: block; width: auto;
    border: 0; padding: .1rem 0; }
  table.stack tr { border-bottom: 1px solid var(--line); padding: .4rem 0; }
  table.stack td.number { text-align: left; } table.stack td.number + td:not(.number) { padding-left: 0; }
  table.stack td::before { content: attr(data-title) " "; color: var(--soft); }
  table.bars th:first-child { width: 36%; } table.bars td.bar { width: 32%; }
  table.bars td:last-child, table.bars thead th:last-child { width: 32%; }
  table.bars.long tr { display: grid; grid-template-columns: 1fr 35%; padding-bottom: .4rem; }
  table.bars.long tbody th { grid-column: 1 / -1; }
  table.bars.long th, table.bars.long td { width: auto !important; }
  table.bars.long thead { display: none; }
  .legend { margin-left: 0; display: flex; }
}
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb; --paper: #fff; --tint: #f2f2f2;
    --before: #9a9a9a; --after: #1f5f96; --good: #145229; --good-tint: #fff; --bad: #8c1a12; --bad-tint: #fff; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  nav { display: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2, h3, caption { break-after: avoid; }
  .pictures table.bars, .tile, svg.front, li, tr, pre { break-inside: avoid; }
  .verdict { border: 1px solid; }
  section > p, summary { break-after: avoid; }
  .tiles { grid-template-columns: repeat(4, 1fr); }
  .pictures { grid-template-columns: 1fr 1fr; }
  @page { margin: 16mm 14mm; }
}
"""
