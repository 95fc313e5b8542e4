/** The style of a report: a light and a dark theme by `prefers-color-scheme`, without external fonts and images. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --page: #f6f6f3; --card: #ffffff; --text: #1d2127; --muted: #656d78; --edge: #e4e4de; --grid: #ecece7; --soft: #f3f3ef;
  --unshaped: #3667c9; --shaped: #d9822b; --good: #238a5d; --bad: #c5403a; --time: #7a58b8; --pending: #b9bcc2;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1217; --card: #171b22; --text: #e7e9ed; --muted: #939ba8; --edge: #272d37; --grid: #232932; --soft: #1e232c;
    --unshaped: #6d9bf1; --shaped: #f0a253; --good: #4dbb8a; --bad: #ec6f68; --time: #a98be2; --pending: #4b5260;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; font-variant-numeric: tabular-nums; }
main { max-width: 1240px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 30px; line-height: 1.2; margin: 2px 0 6px; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 44px 0 14px; letter-spacing: -0.005em; }
h3 { font-size: 15px; margin: 0; }
p { margin: 0; }
code, pre { font-family: var(--mono); font-size: 12.5px; }
.kicker { color: var(--muted); font-size: 12.5px; letter-spacing: 0.06em; text-transform: uppercase; }
.meta, .caption, .empty { color: var(--muted); }
.caption { font-size: 13px; margin: 2px 0 14px; }
.empty { padding: 56px 16px; text-align: center; font-size: 14px; }
.card { background: var(--card); border: 1px solid var(--edge); border-radius: 10px; padding: 18px 20px 16px; min-width: 0; }
.grid { display: grid; gap: 16px; grid-template-columns: repeat(2, minmax(0, 1fr)); }
.grid > .wide { grid-column: 1 / -1; }
@media (max-width: 860px) { .grid { grid-template-columns: minmax(0, 1fr); } }

.alarm { margin: 26px 0 -12px; padding: 12px 16px; border: 1px solid var(--bad); border-left-width: 5px; border-radius: 10px; background: var(--card); font-weight: 600; }
.headline { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(182px, 1fr)); margin: 26px 0 14px; }
.headline .card { padding: 14px 16px 13px; }
.figure-name { color: var(--muted); font-size: 13px; }
.figure { font-size: 27px; line-height: 1.3; font-weight: 620; letter-spacing: -0.015em; white-space: nowrap; }
.figure-note { color: var(--muted); font-size: 12px; }

.account { padding: 14px 16px; }
.account svg { display: block; height: 10px; width: 100%; border-radius: 5px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; font-size: 13px; margin-top: 10px; color: var(--muted); }
.legend b { color: var(--text); font-weight: 600; }
.key { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 7px; background: var(--pending); }
.key.good { background: var(--good); } .key.fell-short { background: var(--unshaped); } .key.truncated { background: var(--shaped); }
.key.bad { background: var(--bad); } .key.unshaped { background: var(--unshaped); } .key.shaped { background: var(--shaped); }
.key.reach { background: var(--grid); outline: 1px solid var(--edge); }

.plot svg { display: block; width: 100%; height: auto; }
svg text { font-size: 11.5px; fill: var(--muted); }
svg .name { font-size: 11.5px; }
svg .term { fill: var(--text); font-size: 12.5px; }
svg .note { fill: var(--text); paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; }
svg .grid, svg .axis { display: inline; stroke: var(--grid); stroke-width: 1; }
svg .axis { stroke: var(--pending); }
svg .marker { stroke: var(--text); stroke-width: 1.2; stroke-dasharray: 4 3; }
svg .interval { fill: var(--text); opacity: 0.1; }
svg .unshaped { fill: var(--unshaped); stroke: var(--unshaped); } svg .shaped { fill: var(--shaped); stroke: var(--shaped); }
svg .good { fill: var(--good); stroke: var(--good); } svg .time { fill: var(--time); stroke: var(--time); }
svg .bad { fill: var(--bad); } svg .truncated { fill: var(--shaped); } svg .fell-short { fill: var(--unshaped); } svg .pending { fill: var(--pending); }
svg rect { stroke: none !important; }
svg .reach { fill: var(--grid); opacity: 0.75; }
svg .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg .thin .line { stroke-width: 1.2; opacity: 0.45; }
svg .band { stroke: none; opacity: 0.16; }
svg circle { stroke: var(--card); stroke-width: 1.5; }
svg .branch { fill: none; stroke: var(--pending); stroke-width: 1.6; stroke-linejoin: round; }
svg .whisker { stroke-width: 1.5; }

table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; font-weight: 500; color: var(--muted); font-size: 12.5px; padding: 0 12px 6px 0; border-bottom: 1px solid var(--edge); }
td { padding: 7px 12px 7px 0; border-bottom: 1px solid var(--grid); vertical-align: top; overflow-wrap: anywhere; }
tr:last-child td { border-bottom: 0; }
th.number, td.number { text-align: right; white-space: nowrap; overflow-wrap: normal; }
th.number + th:not(.number), td.number + td:not(.number) { padding-left: 16px; }
th:last-child, td:last-child { padding-right: 0; }
td.meter { width: 26%; vertical-align: middle; } td.meter svg { display: block; width: 100%; height: 8px; border-radius: 4px; }
td.name { white-space: nowrap; overflow-wrap: normal; }
td.text { white-space: pre-wrap; font-size: 12.5px; }
.even td:first-child { white-space: nowrap; }
.tight td { padding-top: 5px; padding-bottom: 5px; }
.track { fill: var(--soft); }
.scroll { overflow-x: auto; max-height: 420px; overflow-y: auto; }

.chips { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-bottom: 14px; }
.chips button, .chips input { font: inherit; font-size: 13px; color: inherit; background: var(--card); border: 1px solid var(--edge); border-radius: 999px; padding: 5px 13px; }
.chips button { cursor: pointer; } .chips button[aria-pressed="true"] { background: var(--text); color: var(--card); border-color: var(--text); }
.chips input { margin-left: auto; width: 220px; }
.browser { display: grid; grid-template-columns: 330px minmax(0, 1fr); gap: 16px; align-items: start; }
@media (max-width: 860px) { .browser { grid-template-columns: minmax(0, 1fr); } .chips input { margin-left: 0; } }
.list { padding: 6px; max-height: 720px; overflow-y: auto; }
.list button { display: grid; grid-template-columns: 10px minmax(0, 1fr) auto; gap: 2px 10px; width: 100%; padding: 8px 10px; border: 0; border-radius: 7px; background: none; color: inherit; font: inherit; font-size: 13.5px; text-align: left; cursor: pointer; }
.list button:hover { background: var(--soft); } .list button[aria-current="true"] { background: var(--soft); box-shadow: inset 2px 0 0 var(--unshaped); }
.list .dot { width: 9px; height: 9px; border-radius: 50%; margin-top: 6px; background: var(--unshaped); }
.dot.succeeded { background: var(--good) !important; } .dot.truncated { background: var(--shaped) !important; } .dot.failed { background: var(--bad) !important; }
.list .title { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.list .detail { grid-column: 2 / -1; color: var(--muted); font-size: 12.5px; }
.play { max-height: 720px; overflow-y: auto; }
.play h3 { font-size: 16px; overflow-wrap: anywhere; }
.play dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 10px 18px; margin: 14px 0 18px; }
.play dt, .settings dt { color: var(--muted); font-size: 12.5px; } .play dd, .settings dd { margin: 0; overflow-wrap: anywhere; font-size: 13.5px; }
.step { border-top: 1px solid var(--grid); padding: 11px 0 12px; display: grid; grid-template-columns: 34px minmax(0, 1fr) auto; gap: 4px 10px; }
.step .index { color: var(--muted); font-size: 13px; }
.step .badge { justify-self: start; } .step > .meta { font-size: 13.5px; }
.step .call { overflow-wrap: anywhere; } .step .reward { text-align: right; font-weight: 600; white-space: nowrap; }
.step .says { grid-column: 2 / -1; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13.5px; }
.step .data, .step .facts { grid-column: 2 / -1; color: var(--muted); font-size: 12.5px; overflow-wrap: anywhere; }
.step .facts span { display: inline-block; margin-right: 16px; }
.step .answer { grid-column: 2 / -1; border-left: 2px solid var(--grid); padding-left: 10px; margin: 2px 0; font-size: 13.5px; overflow-wrap: anywhere; }
.answer .said, .answer .thought { white-space: pre-wrap; } .answer .thought, .answer summary, .answer .unplayed, .answer .spent { color: var(--muted); }
.answer .unplayed { display: block; } .answer summary { cursor: pointer; } .answer .spent { font-size: 12.5px; } .answer .spent span { display: inline-block; margin-right: 16px; }
.badge { display: inline-block; border-radius: 999px; padding: 0 8px; font-size: 12px; background: var(--soft); color: var(--muted); }
.badge.failed { color: var(--bad); } .badge.refused { color: var(--shaped); }
.positive { color: var(--good); } .negative { color: var(--bad); }
.settings { display: grid; grid-template-columns: minmax(140px, max-content) minmax(0, 1fr); gap: 7px 24px; margin: 0; }
.settings dd { font-family: var(--mono); font-size: 12.5px; white-space: pre-wrap; }
.notes p { color: var(--muted); font-size: 13.5px; margin-bottom: 8px; } .notes p:last-child { margin: 0; }
`
