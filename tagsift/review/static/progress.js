// How far the work has come: what is left, how it fell, what the next looks should bring.

import { make, visible } from "./visible.js";

const [WIDTH, HEIGHT, FOOT, HEAD, EDGE] = [300, 92, 16, 16, 4]; // of the drawing

const number = (value) => (value < 9.95 ? value.toFixed(1) : Math.round(value).toLocaleString());
const between = ([low, high]) => `${number(low)}\u2060–\u2060${number(high)}`;
const remark = (...parts) => make("p", { class: "remark" }, ...parts);

/** The fall of the expected number of wrong labels, and where the next looks should lead. */
function fall(history, ahead) {
  const all = ahead ? [...history, ahead] : history;
  const most = Math.max(...all.map((point) => point.left), 1);
  const last = Math.max(all.at(-1).decisions, 1);
  const floor = HEIGHT - FOOT;
  const x = (point) => EDGE + ((WIDTH - 2 * EDGE) * point.decisions) / last;
  const y = (point) => floor - ((floor - HEAD) * point.left) / most;
  const place = (point) => `${x(point).toFixed(1)} ${y(point).toFixed(1)}`;
  const path = (points) => `M${points.map(place).join("L")}`;
  const [first, now] = [history[0], history.at(-1)];
  const says = [`Wrong labels expected: ${number(first.left)} at the start`,
    `${number(now.left)} after ${now.decisions} decisions`];
  if (ahead) says.push(`about ${number(ahead.left)} after ${ahead.decisions}`);
  const end = `${last.toLocaleString()} decisions`;
  const viewBox = `0 0 ${WIDTH} ${HEIGHT}`;
  return make("svg", { class: "fall", viewBox, role: "img", "aria-label": `${says.join(", ")}.` },
    make("line", { class: "axis", x1: EDGE, x2: WIDTH - EDGE, y1: floor, y2: floor }),
    make("path", { class: "area", d: `${path(history)}L${x(now)} ${floor}L${x(first)} ${floor}Z` }),
    make("path", { class: "line", d: path(history) }),
    ahead ? make("path", { class: "ahead", d: path([now, ahead]) }) : null,
    make("circle", { class: "now", cx: x(now), cy: y(now), r: 3.5 }),
    make("text", { x: x(first), y: y(first) - 5 }, number(first.left)),
    make("text", { x: x(first), y: HEIGHT - 3 }, "0"),
    last > 1 ? make("text", { x: x(all.at(-1)), y: HEIGHT - 3, "text-anchor": "end" }, end) : null);
}

/** What is expected: the figure, its fall, and what the next looks should find. */
function expected(progress) {
  const { decisions, left, next } = progress;
  const history = progress.history.slice();
  if (history.at(-1)?.decisions !== decisions) history.push({ decisions, left });
  const ahead = next && { decisions: decisions + next.looks, left: Math.max(left - next.found, 0) };
  const words = make("span", {}, "wrong labels expected among the open ones");
  const found = next && `${number(next.found)} of them (${between(next.found_range)})`;
  return [
    make("p", { class: "figure" }, make("strong", {}, number(left)), words),
    fall(history, ahead),
    remark(`Nine times in ten there are ${between(progress.left_range)}. `,
      next ? `The next ${next.looks} looks should find ${found}.` : ""),
  ];
}

/** Fill the panel with a progress as the server tells it. */
export function showProgress(node, progress, reviewer) {
  const waiting = "The first fit is under way. Until it is done, items come in the order in "
    + "which annotators disagree.";
  const own = progress.reviewers.find(({ name }) => name === reviewer)?.decisions ?? 0;
  const { decisions, changed: corrections, open } = progress;
  const counts = { decisions, corrections, open, "by you": own };
  const cells = Object.entries(counts).map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, value.toLocaleString())));
  const others = progress.reviewers.filter(({ name, now }) => now && name !== reviewer);
  const names = others.map(({ name }) => visible(name, 30)).join(", ");
  node.replaceChildren(
    ...(progress.left === null ? [remark(waiting)] : expected(progress)),
    make("dl", { class: "counts" }, ...cells),
    ...(others.length ? [remark(`At work too: ${names}.`)] : []));
}

/** Say what the model is doing. */
export function showLearning(node, button, progress, every) {
  const { failed, unkept, refitting, revision, new: fresh } = progress;
  const due = every ? `, next at ${every}` : "";
  node.textContent = refitting ? "Learning …"
    : failed ? `The last fit failed: ${visible(failed, 300)}`
      : unkept ? `A new start will not know the last fit: ${visible(unkept, 300)}`
        : fresh ? `${fresh} new since the last fit${due}`
          : revision ? "All decisions are learnt" : "No fit yet";
  node.classList.toggle("busy", refitting);
  button.disabled = refitting || !fresh;
}
