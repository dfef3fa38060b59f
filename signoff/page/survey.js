const STYLE = { holds: "good", must: "bad", should: "warn", tells: "none", varies: "warn", unknown: "warn", not_run: "none" };
const ROWS = D.rows.map(([id, phase, fault, dimension, says, kind, evidence, truth], n) => ({ n, id: S(id), phase: S(phase),
  fault: S(fault), dimension: S(dimension), says: S(says), kind: S(kind), evidence: S(evidence), truth: S(truth) }));
const SUBJECTS = D.subjects.map((subject, n) => ({ n, ...subject, cells: subject.cells.map((cell) => cell && unpacked(cell)) }));
function unpacked([mark, attempts, executions, outcome, status, reason, flags, replay, findings]) {
  return { mark: S(mark), attempts, executions, outcome: S(outcome), status, reason: S(reason), flags: S(flags), replay: S(replay),
    findings: findings.map(([check, kind, verdict, says]) => ({ check: S(check), kind: S(kind), verdict: S(verdict), says: S(says) })) };
}
const mark = (word) => el("span", { class: `tag ${STYLE[word]}` }, `${D.marks[word][0]} ${word}`);
const sent = (cell) => cell.mark === "not_run" ? "" : `${cell.attempts ?? "?"}/${cell.executions}`;
const brief = (cell) => cell.mark === "not_run" ? `not run: ${cell.reason}`
  : `${cell.attempts ?? "?"} sent, ${cell.executions} run, the caller had ${cell.outcome}${cell.status === null ? "" : ` ${cell.status}`}`;
const close = () => el("form", { method: "dialog" }, el("button", { class: "close" }, "Close"));
function show(...parts) {
  dialog.replaceChildren(close(), ...parts.filter((part) => part !== null));
  dialog.showModal();
}

function showCell(row, subject) {
  const cell = subject.cells[row.n];
  show(el("h2", { id: "detail-title" }, `${subject.title}: ${row.id}`), el("p", {}, mark(cell.mark), ` ${brief(cell)}`, cell.flags ? ` (${cell.flags})` : ""),
    el("p", {}, `${row.says ? `${row.says}. ` : ""}It saw ${row.evidence} (${row.kind}).${row.truth ? ` The work of a sending that met it was ${row.truth}.` : ""}`),
    cell.reason && cell.mark !== "not_run" ? el("p", {}, cell.reason) : null,
    cell.findings.length ? el("ul", {}, ...cell.findings.map((each) => el("li", {}, el("strong", {}, each.check), ` (${each.kind}, ${each.verdict}): ${each.says}`,
      D.checks[each.check] ? el("div", { class: "note" }, D.checks[each.check]) : ""))) : null,
    cell.replay ? el("p", { class: "note" }, "lives through it again, where the subject is installed:") : null,
    cell.replay ? el("pre", {}, cell.replay) : null, cell.replay ? copyButton(cell.replay) : null, el("p", { class: "note" }, subject.version));
}
function showSubject(subject) {
  const pairs = [["version", subject.version], ["promises", subject.promises], ["time-outs", subject.timeouts], ...Object.entries(subject.values)];
  show(el("h2", { id: "detail-title" }, subject.title), el("p", {}, ...Object.entries(subject.counts).flatMap(([word, count]) => [mark(word), ` ${count}  `])),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "configuration" }, el("table", {}, el("tbody", {},
      ...pairs.map(([name, text]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, text)))))));
}
function showRow(row) {
  show(el("h2", { id: "detail-title" }, row.id), el("p", {}, row.says), el("p", { class: "note" }, `${row.evidence} (${row.kind})`),
    el("ul", {}, ...SUBJECTS.filter((subject) => subject.cells[row.n]).map((subject) => el("li", {}, mark(subject.cells[row.n].mark),
      ` ${subject.title}: ${brief(subject.cells[row.n])}`))));
}

const filter = { text: "", phase: "", kind: "", subject: "", mark: "", differ: false };
const columnMatches = (subject) => (!filter.kind || subject.kind === filter.kind) && (!filter.subject || subject.title.toLowerCase().includes(filter.subject));
const went = (cell) => `${cell.mark} ${cell.attempts} ${cell.executions}`;
function rowMatches(row, columns) {
  const cells = columns.map((subject) => subject.cells[row.n]).filter(Boolean);
  return cells.length > 0 && (!filter.phase || row.phase === filter.phase) && (!filter.text || `${row.id} ${row.says} ${row.evidence}`.toLowerCase().includes(filter.text))
    && (!filter.mark || cells.some((cell) => cell.mark === filter.mark)) && (!filter.differ || new Set(cells.map(went)).size > 1);
}
function filters(update) {
  const listen = (key, input, event, value) => { input.addEventListener(event, () => { filter[key] = value(input); update(); }); return input; };
  const choose = (key, label, values) => el("label", { for: `filter-${key}` }, label, listen(key, el("select", { id: `filter-${key}` },
    el("option", { value: "" }, "all"), ...values.map((value) => el("option", { value }, value))), "change", (input) => input.value));
  const search = (key, label, hint) => el("label", { for: `filter-${key}` }, label, listen(key, el("input", { type: "search", id: `filter-${key}`, placeholder: hint }),
    "input", (input) => input.value.toLowerCase()));
  document.addEventListener("keydown", (event) => {
    const text = document.getElementById("filter-text");
    if (event.key === "/" && !dialog.open && !(document.activeElement instanceof HTMLInputElement)) { event.preventDefault(); text.focus(); }
  });
  const differ = listen("differ", el("input", { type: "checkbox", id: "filter-differ" }), "change", (input) => input.checked);
  return el("div", { class: "filters", role: "search" }, search("text", "fault", "press / to search"), search("subject", "subject", "such as nginx"),
    choose("kind", "kind", [...new Set(SUBJECTS.map((subject) => subject.kind))]), choose("phase", "phase", [...new Set(ROWS.map((row) => row.phase))]),
    choose("mark", "sign", Object.keys(D.marks)), el("span", {}, differ, " ", el("label", { for: "filter-differ" }, "only where subjects differ")));
}

let buttons = [];
function cellButton(row, subject, y, x) {
  const cell = subject.cells[row.n];
  if (!cell) return null;
  const dim = filter.mark && cell.mark !== filter.mark;
  const button = el("button", { type: "button", tabindex: "-1", class: dim ? "hidden" : "", onclick: () => showCell(row, subject),
    "aria-label": `${subject.title}, ${row.id}: ${cell.mark}, ${brief(cell)}`, title: `${subject.title}, ${row.id}: ${cell.mark}, ${brief(cell)}` },
    el("span", { class: STYLE[cell.mark], "aria-hidden": "true" }, `${D.marks[cell.mark][0]} ${sent(cell)}`));
  (buttons[y] ||= [])[x] = button;
  button.addEventListener("keydown", (event) => walk(event, y, x));
  return button;
}
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
function walk(event, y, x) {
  const step = STEPS[event.key];
  if (!step) return;
  event.preventDefault();
  for (let [at, on] = [y + step[0], x + step[1]]; at >= 0 && at < buttons.length && on >= 0 && on < SUBJECTS.length; at += step[0], on += step[1]) {
    const next = buttons[at]?.[on];
    if (next) { buttons[y][x].tabIndex = -1; next.tabIndex = 0; next.focus(); return; }
  }
}
function draw(place, count) {
  const columns = SUBJECTS.filter(columnMatches), rows = ROWS.filter((row) => rowMatches(row, columns));
  buttons = [];
  const body = el("tbody", {});
  let phase = null;
  rows.forEach((row, y) => {
    if (row.phase !== phase) body.append(el("tr", { class: "phase" }, el("th", { scope: "rowgroup", colspan: columns.length + 1 }, row.phase)));
    phase = row.phase;
    body.append(el("tr", {}, el("th", { scope: "row" }, el("button", { type: "button", title: row.says, onclick: () => showRow(row) }, `${row.fault} `, el("small", {}, row.dimension))),
      ...columns.map((subject, x) => el("td", {}, cellButton(row, subject, y, x)))));
  });
  const first = buttons.flat().find(Boolean);
  if (first) first.tabIndex = 0;
  count.textContent = `${rows.length} of ${ROWS.length} faults, ${columns.length} of ${SUBJECTS.length} subjects; arrow keys go from cell to cell`;
  place.replaceChildren(el("div", { class: "heat", tabindex: "0", role: "region", "aria-label": "faults and subjects, scrolls" }, el("table", {},
    el("thead", {}, el("tr", {}, el("th", { class: "corner", scope: "col" }, "fault"), ...columns.map((subject) => el("th", { scope: "col" },
      el("button", { type: "button", title: subject.version, onclick: () => showSubject(subject) }, subject.title))))), body)));
}

const place = el("div", {}), count = el("p", { class: "note", role: "status" });
const update = () => draw(place, count);
section("faults", "Faults and subjects", el("p", { class: "key" }, ...Object.entries(D.marks).map(([word, [, means]]) => el("span", {}, mark(word), ` ${means}`))),
  filters(update), count, place);
update();
