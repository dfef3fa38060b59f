const SVG = "http://www.w3.org/2000/svg";
const W = 480, H = 260, LEFT = 58, RIGHT = 12, TOP = 28, BOTTOM = 34, LETTER = 8;
function svg(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
const brief = (value) => value >= 1e9 ? `${+(value / 1e9).toPrecision(3)}G` : value >= 1e6 ? `${+(value / 1e6).toPrecision(3)}M`
  : value >= 1e4 ? `${+(value / 1e3).toPrecision(3)}k` : `${+value.toPrecision(3)}`;
function nice(most) {
  const power = 10 ** Math.floor(Math.log10(most || 1));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= most) || 1;
}
// lines: [{ name, points: [[x, y], ...] }], at most four; log: x by powers of two
function plot(title, along, up, lines, log) {
  const all = lines.flatMap((line) => line.points), place = log ? Math.log2 : (x) => x;
  const xs = all.map(([x]) => place(x)), high = nice(Math.max(...all.map(([, y]) => y), 0));
  const low = Math.min(...xs), wide = Math.max(...xs) - low || 1;
  const X = (x) => LEFT + (place(x) - low) / wide * (W - LEFT - RIGHT), Y = (y) => H - BOTTOM - y / high * (H - TOP - BOTTOM);
  const drawn = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${title}: ${lines.map((line) => line.name).join(", ")}` });
  for (let part = 0; part <= 4; part++) {
    const y = high * part / 4;
    drawn.append(svg("line", { class: part ? "grid" : "axis", x1: LEFT, x2: W - RIGHT, y1: Y(y), y2: Y(y) }),
      svg("text", { x: LEFT - 6, y: Y(y) + 4, "text-anchor": "end" }, brief(y)));
  }
  const marks = log ? [...new Set(all.map(([x]) => x))] : [0, 1, 2, 3, 4].map((part) => low + wide * part / 4);
  for (const x of marks) drawn.append(svg("text", { x: X(x), y: H - BOTTOM + 16, "text-anchor": "middle" }, brief(x)));
  drawn.append(svg("text", { x: (LEFT + W) / 2, y: H - 3, "text-anchor": "middle" }, along));
  let named = LEFT;  // names stand above the plot, one beside the other: no line crosses them
  lines.forEach((line, n) => {
    const kind = "abcd"[n % 4];
    drawn.append(svg("polyline", { class: `line ${kind}`, points: line.points.map(([x, y]) => `${X(x)},${Y(y)}`).join(" ") }),
      svg("text", { class: kind, x: named, y: 14 }, line.name));
    named += LETTER * line.name.length + 18;
    if (log) for (const [x, y] of line.points) drawn.append(svg("circle", { class: `dot ${kind}`, cx: X(x), cy: Y(y), r: 4 }));
  });
  return el("figure", {}, drawn, el("figcaption", {}, `${title} (${up})`));
}

const steps = D.steps, known = steps.flatMap((step) => step.costs).filter((cost) => cost.cpu_ms !== null)
  .sort((one, other) => one.in_flight - other.in_flight);
const over = (value) => known.map((cost) => [cost.in_flight, cost[value]]);
const plots = (...figures) => el("div", { class: "plots" }, ...figures);
if (known.length) section("cost", "What an operation costs", plots(
  plot("CPU for each operation", "operations in flight", "ms", [{ name: "subject", points: over("cpu_ms") },
    { name: "our callers", points: over("caller_cpu_ms") }, { name: "our routers", points: over("router_cpu_ms") }], true),
  plot("Memory of the subject for each operation in flight", "operations in flight", "KiB", [{ name: "resident", points: over("kib") }], true)));
for (const step of steps) {
  const of = (at) => step.moments.map((moment) => [moment[0], moment[at]]);
  section(`at-${step.n}`, `${step.in_flight.toLocaleString("en")} in flight`, plots(
    plot("Completions", "seconds", "operations", [{ name: "done", points: of(2) }, { name: "in flight", points: of(1) }, { name: "failed", points: of(3) }]),
    plot("Completions a second", "seconds", "operations", [{ name: "done", points: step.rates }]),
    plot("Memory of the subject", "seconds", "MiB", [{ name: "resident", points: of(5) }]),
    plot("Open sockets of the subject", "seconds", "sockets", [{ name: "sockets", points: of(6) }])),
  el("ul", {}, ...step.findings.map(([check, verdict, says, style]) => el("li", {}, el("span", { class: `tag ${style}` }, verdict), ` ${check}: ${says}`))));
}
