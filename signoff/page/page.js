const two = D.sides.length === 2;
const SIGNS = { PASS: ["✓", "good"], FAIL: ["✗", "bad"], UNKNOWN: ["?", "warn"], not_run: ["–", "none"], "": [" ", "none"] };
const STYLES = { regressed: "bad", "still broken": "bad", unproven: "warn", weaker: "warn", fixed: "good", stronger: "good",
  same: "none", PASS: "good", FAIL: "bad", UNKNOWN: "warn", not_run: "none" };
const PAGE = 200;

const tag = (word, style) => el("span", { class: `tag ${style || STYLES[word] || "none"}` }, word);
const table = (columns, rows, name, style) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
  el("table", { class: style }, el("thead", {}, el("tr", {}, ...columns.map((column) => el("th", { scope: "col" }, column)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell, n) => el("td", { "data-label": columns[n] }, cell)))))));

// A cell: what is the same on both sides, its word (a change, or a verdict), and its sides; null where one has none.
const CELLS = D.cells.map(([id, fault, phase, evidence, kind, word, says, excused, ...sides]) => {
  const name = S(id), parts = name.split("/");
  return { name, fault: S(fault), phase: S(phase), evidence: S(evidence), kind: S(kind), word: S(word), says: S(says),
    excused, sides: sides.map((side) => side && unpacked(side)), row: parts[1] || name, column: parts.slice(2).join("/") };
});
function unpacked([verdict, attempts, accepted, executions, outcome, status, delay, flags, reason, findings, diagram, replay]) {
  return { verdict: S(verdict), attempts, accepted, executions, outcome: S(outcome), status, delay, flags: S(flags),
    reason: S(reason), findings: findings.map(([c, k, v, s, e]) => ({ check: S(c), kind: S(k), verdict: S(v), says: S(s), entries: e })),
    diagram: diagram === null ? null : D.diagrams[diagram], replay: S(replay) };
}
const CHANGES = [...new Set(CELLS.map((cell) => cell.word))];
const brief = (side) => !side ? "-" : side.verdict === "not_run" ? "not run"
  : `${side.attempts ?? "?"} sent, ${side.executions} run, ${side.outcome}${side.status ? ` ${side.status}` : ""}`;

function decisions() {
  if (!D.decisions.length) return;
  const rows = (all) => D.decisions.filter((row) => all || row.changed).map((row) => two
    ? [row.evidence, row.class, row.truth, row.base, row.candidate, row.says]
    : [row.evidence, row.class, row.truth, row.candidate]);
  const columns = two ? ["evidence", "class", "the work was", D.sides[0].name, D.sides[1].name, "in words"]
    : ["evidence", "class", "the work was", "what it does"];
  const place = el("div", {});
  const draw = (all) => place.replaceChildren(rows(all).length ? table(columns, rows(all), "decision table", "stacks")
    : el("p", { class: "note" }, "No decision changes."));
  const box = el("input", { type: "checkbox", id: "all-decisions" });
  box.addEventListener("change", () => draw(box.checked));
  draw(!two);
  section("decisions", two ? "What decisions change" : "What it does on which evidence", place, two
    ? el("p", {}, box, " ", el("label", { for: "all-decisions" }, "show the decisions that stay, too")) : null);
}

function measures() {
  const named = D.sides.map((side) => side.name);
  if (D.work.length) section("work", "Work lost and doubled, per 1,000 operations", table(["per 1,000", ...named],
    D.work, "work lost and doubled"), el("p", { class: "note" }, D.mix));
  const why = D.amplification.some((row) => row[4]);
  if (D.amplification.length) section("amplification", "Sendings and executions per operation, many at once",
    table(["the router is", "at once", ...named, ...(why ? ["why not measured"] : [])],
      D.amplification.map((row) => why ? row : row.slice(0, 4)), "amplification"));
  if (D.waits.length) section("waits", "Time until a caller knows of a failure, in time-outs",
    table(["evidence", "time-out", ...named], D.waits, "time to answer"));
  if (D.allowances.length) section("allowances", "Allowances", table(["cells", "reason", "owner", "until", "state", "excuses"],
    D.allowances, "each allowance", "stacks"));
}

const filter = { text: "", word: "", phase: "", kind: "" };
const matches = (cell) => (!filter.word || cell.word === filter.word) && (!filter.phase || cell.phase === filter.phase)
  && (!filter.kind || cell.kind === filter.kind)
  && (!filter.text || `${cell.name} ${cell.fault} ${cell.evidence} ${cell.says}`.toLowerCase().includes(filter.text));
let shown = PAGE;

function filters(update) {
  const choose = (key, label, values) => {
    const select = el("select", { id: `filter-${key}` }, el("option", { value: "" }, "all"),
      ...values.map((value) => el("option", { value }, value)));
    select.addEventListener("change", () => { filter[key] = select.value; update(); });
    return el("label", { for: `filter-${key}` }, label, select);
  };
  const text = el("input", { type: "search", id: "filter-text", placeholder: "press / to search" });
  text.addEventListener("input", () => { filter.text = text.value.toLowerCase(); update(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !dialog.open && document.activeElement !== text) { event.preventDefault(); text.focus(); }
  });
  const distinct = (key) => [...new Set(CELLS.map((cell) => cell[key]))].filter(Boolean);
  return el("div", { class: "filters", role: "search" }, el("label", { for: "filter-text" }, "cell, fault or evidence", text),
    choose("word", two ? "change" : "verdict", CHANGES), choose("phase", "phase", distinct("phase")),
    choose("kind", "class", distinct("kind")));
}

function cellTable(place, count) {
  const found = D.worst.map((n) => CELLS[n]).filter(matches);
  const columns = two ? ["cell", "change", D.sides[0].name, D.sides[1].name, "because"] : ["cell", "verdict", "class", "what happened", "because"];
  const body = el("tbody", {});
  for (const cell of found.slice(0, shown)) {
    const values = two ? brief(cell.sides[0]) : cell.kind;
    const row = [el("button", { class: "row", type: "button", onclick: () => detail(cell) }, cell.name),
      el("span", {}, tag(cell.word), cell.excused === null ? "" : " excused"), values, brief(cell.sides[cell.sides.length - 1]), cell.says];
    body.append(el("tr", {}, ...row.map((value, n) => el("td", { "data-label": columns[n] }, value))));
  }
  count.textContent = `${found.length} of ${CELLS.length} cells`;
  const more = found.length > shown ? el("button", { type: "button", onclick: () => { shown += PAGE; cellTable(place, count); } },
    `show ${Math.min(PAGE, found.length - shown)} more`) : null;
  place.replaceChildren(el("table", { class: "cells stacks", "aria-label": "cells" }, el("thead", {}, el("tr", {},
    ...columns.map((column) => el("th", { scope: "col" }, column)))), body), ...(more ? [more] : []));
}

const HEAT = new Map();
function heatMap() {
  const cells = CELLS.filter((cell) => cell.column);
  const columns = [...new Set(cells.map((cell) => cell.column))];
  const rows = new Map();
  for (const cell of cells) {
    const key = `${cell.phase}/${cell.row}`;
    if (!rows.has(key)) rows.set(key, { phase: cell.phase, row: cell.row, at: new Map() });
    rows.get(key).at.set(cell.column, cell);
  }
  const body = el("tbody", {});
  let phase = null;
  for (const { phase: its, row, at } of rows.values()) {
    if (its !== phase) body.append(el("tr", { class: "phase" }, el("th", { scope: "rowgroup", colspan: columns.length + 1 }, its)));
    phase = its;
    body.append(el("tr", {}, el("th", { scope: "row" }, row), ...columns.map((column) => {
      const cell = at.get(column);
      return el("td", {}, cell ? heatButton(cell) : null);
    })));
  }
  const head = el("tr", {}, el("th", { class: "corner", scope: "col" }, "fault"), ...columns.map((column) => el("th", { scope: "col" }, column)));
  const key = el("p", { class: "key" }, ...["PASS", "FAIL", "UNKNOWN", "not_run"].map((word) => el("span", {}, tag(SIGNS[word][0], SIGNS[word][1]), ` ${word}`)),
    two ? el("span", {}, "left base, right candidate; framed: they differ") : null);
  if (cells.length) section("heat", "Faults and dimensions", key, el("div", { class: "heat", tabindex: "0", role: "region", "aria-label": "map, scrolls" },
    el("table", {}, el("thead", {}, head), body)));
}
function heatButton(cell) {
  const words = cell.sides.map((side) => side ? side.verdict : "");
  const says = two ? `base ${words[0] || "none"}, candidate ${words[1] || "none"}, ${cell.word}` : words[0];
  const button = el("button", { type: "button", "aria-label": `${cell.name}: ${says}`, title: `${cell.name}: ${says}`,
    class: two && cell.word !== "same" ? "differs" : "", onclick: () => detail(cell) },
    ...words.map((word) => el("span", { class: SIGNS[word][1], "aria-hidden": "true" }, SIGNS[word][0])));
  HEAT.set(cell, button);
  return button;
}

function detail(cell) {
  const parts = [el("form", { method: "dialog" }, el("button", { class: "close" }, "Close")), el("h2", { id: "detail-title" }, cell.name),
    el("p", {}, tag(cell.word), ` ${cell.says}`), el("p", { class: "note" }, `${cell.fault}: ${cell.evidence} (${cell.kind})`)];
  cell.sides.forEach((side, n) => {
    if (!side) return parts.push(el("h3", {}, `${D.sides[n].name}: has no such cell`));
    parts.push(el("h3", {}, `${D.sides[n].name}: `, tag(side.verdict), ` ${brief(side)}, ${side.delay} ms ${side.flags}`));
    if (side.reason) parts.push(el("p", {}, side.reason));
    if (side.findings.length) parts.push(el("ul", {}, ...side.findings.map((each) => el("li", {}, el("strong", {}, each.check), ` (${each.kind}, ${each.verdict}): ${each.says}`,
      each.entries.length ? ` [entries ${each.entries.join(", ")}]` : ""))));
    const steps = side.diagram || (n === 0 && two && cell.sides[1] ? null : []);
    if (steps === null) parts.push(el("p", { class: "note" }, "It went as on the other side."));
    else if (steps.length) parts.push(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `diagram of ${D.sides[n].name}` }, drawn(steps)),
      el("details", {}, el("summary", {}, "as a list, with the ledger's entries"), el("ol", {}, ...steps.map(([ms, who, whom, says, , entries]) =>
        el("li", {}, `${ms} ms, ${S(who)}${whom ? ` to ${S(whom)}` : ""}: ${S(says)}${entries.length ? ` [${entries.join(", ")}]` : ""}`)))));
    if (side.replay) parts.push(el("p", { class: "note" }, "replay it (the plan lies beside this page, the subject is named as it was then):"), el("pre", {}, side.replay), copyButton(side.replay));
  });
  dialog.replaceChildren(...parts);
  dialog.showModal();
}
const NS = "http://www.w3.org/2000/svg";
function svg(name, attributes, text) {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
const rank = (who) => ["caller", "forwarder", "toxiproxy", "names"].indexOf(who) + 1 || 9;
function drawn(steps) {
  const lanes = [...new Set(steps.flatMap(([, who, whom]) => [S(who), whom ? S(whom) : null]).filter(Boolean))]
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const narrow = innerWidth < 640, gap = narrow ? 76 : 230, first = narrow ? 48 : 70;  // on a phone all lanes fit beside each other
  const x = (who) => first + lanes.indexOf(who) * gap, top = 34, height = top + steps.length * 26 + 10;
  const ends = steps.map(([, who, whom, says]) => whom ? Math.min(x(S(who)), x(S(whom))) + 8 + S(says).length * 6.2 : 0);
  const width = Math.ceil(narrow ? Math.max(x(lanes[lanes.length - 1]) + 40, ...ends) : first + 20 + lanes.length * gap);
  const label = steps.map(([, who, whom, says]) => `${S(who)}${whom ? ` to ${S(whom)}` : ""}: ${S(says)}`).join("; ");
  const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const lane of lanes) root.append(svg("text", { x: x(lane), y: 18, "text-anchor": "middle", "font-weight": "700" }, lane),
    svg("line", { class: "life", x1: x(lane), x2: x(lane), y1: 26, y2: height }));
  steps.forEach(([ms, who, whom, says, mark], n) => {
    const y = top + n * 26 + 14, from = x(S(who));
    root.append(svg("text", { class: "ms", x: 4, y: y + 4 }, `${ms}`));
    if (!whom) {
      root.append(svg("circle", { class: S(mark) || "head", cx: from, cy: y, r: 4 }), svg("text",
        { class: S(mark), x: narrow ? Math.max(from - 9, 30 + S(says).length * 6.2) : from + 9, y: y + 4, "text-anchor": narrow ? "end" : "start" }, S(says)));
      return;
    }
    const to = x(S(whom)), way = Math.sign(to - from) || 1;
    root.append(svg("line", { class: "arrow", x1: from, x2: to, y1: y + 3, y2: y + 3 }), svg("path", { class: "head",
      d: `M${to},${y + 3} l${-7 * way},-4 l0,8 z` }), svg("text", { x: Math.min(from, to) + 8, y: y - 2 }, S(says)));
  });
  return root;
}

if (two) decisions();
measures();
const count = el("p", { class: "note", role: "status" });
const place = el("div", { class: "scroll" });
function update() {
  shown = PAGE;
  cellTable(place, count);
  for (const [cell, button] of HEAT) button.classList.toggle("hidden", !matches(cell));
}
heatMap();
section("cells", "Cells", filters(update), count, place);
update();
if (!two) decisions();
if (location.hash.startsWith("#cell=")) {
  const cell = CELLS.find((each) => each.name === decodeURIComponent(location.hash.slice(6)));
  if (cell) detail(cell);
}
