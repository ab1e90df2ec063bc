// How far the work has come: what is left, how it fell, what the next looks should bring.

import { make } from "./visible.js";

const WIDTH = 300;
const HEIGHT = 92;
const number = (value) => (value < 9.95 ? value.toFixed(1) : Math.round(value).toLocaleString());
const range = ([low, high]) => `${number(low)}–${number(high)}`;

/** The fall of the expected number of wrong labels, and where the next looks should lead. */
function fall(history, ahead) {
  const points = ahead ? [...history, ahead] : history;
  const most = Math.max(...points.map((point) => point.left), 1);
  const last = Math.max(points.at(-1).decisions, 1);
  const x = (point) => 4 + ((WIDTH - 8) * point.decisions) / last;
  const y = (point) => HEIGHT - 16 - ((HEIGHT - 32) * point.left) / most;
  const path = (some) => some.map((point, i) => `${i ? "L" : "M"}${x(point).toFixed(1)} ${y(point).toFixed(1)}`).join("");
  const now = history.at(-1);
  const floor = HEIGHT - 16;
  const first = history[0];
  const says = `Expected wrong labels: ${number(first.left)} at the start, ${number(now.left)} after ${now.decisions} decisions` + (ahead ? `, about ${number(ahead.left)} after ${ahead.decisions}.` : ".");
  const label = (point, text, anchor) => make("text", { x: x(point), y: HEIGHT - 3, "text-anchor": anchor }, text);
  return make("svg", { class: "fall", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": says },
    make("line", { class: "axis", x1: 4, x2: WIDTH - 4, y1: floor, y2: floor }),
    make("path", { class: "area", d: `${path(history)}L${x(now)} ${floor}L${x(first)} ${floor}Z` }),
    make("path", { class: "line", d: path(history) }),
    ahead ? make("path", { class: "ahead", d: path([now, ahead]) }) : null,
    make("circle", { class: "now", cx: x(now), cy: y(now), r: 3.5 }),
    make("text", { x: x(first), y: y(first) - 5 }, number(first.left)),
    label(first, "0", "start"),
    last > 1 ? label(points.at(-1), `${last.toLocaleString()} decisions`, "end") : null);
}

/** Fill the panel with a progress as the server tells it. */
export function showProgress(node, progress, reviewer) {
  const parts = [];
  if (progress.left === null) {
    parts.push(make("p", { class: "remark" }, "The first fit is under way. Until then the items come in the order in which the annotators disagree."));
  } else {
    const { looks, found, found_range: between } = progress.next ?? {};
    const ahead = looks && { decisions: progress.decisions + looks, left: Math.max(progress.left - found, 0) };
    const history = [...progress.history];
    if (history.at(-1)?.decisions !== progress.decisions) history.push({ decisions: progress.decisions, left: progress.left });
    parts.push(make("p", { class: "figure", title: `nine times in ten ${range(progress.left_range)}` }, make("strong", {}, number(progress.left)), make("span", {}, "wrong labels expected among those not looked at")));
    parts.push(fall(history, ahead));
    if (looks) parts.push(make("p", { class: "remark" }, `The next ${looks} looks should find ${number(found)} of them (${range(between)}).`));
  }
  const mine = progress.reviewers.find(({ name }) => name === reviewer)?.decisions ?? 0;
  const counts = [[progress.decisions, "decisions"], [progress.changed, "corrections"], [progress.open, "open"], [mine, "by you"]];
  parts.push(make("dl", { class: "counts" }, ...counts.map(([value, name]) => make("div", {}, make("dt", {}, name), make("dd", {}, value.toLocaleString())))));
  const others = progress.reviewers.filter((one) => one.now).length;
  if (others > 1) parts.push(make("p", { class: "remark" }, `${others} people are at work.`));
  node.replaceChildren(...parts);
}

/** Say what the model is doing. */
export function showLearning(node, button, progress, every) {
  const fresh = progress.new;
  const told = progress.failed ? `The last fit failed: ${progress.failed}`
    : progress.refitting ? "Learning …"
      : progress.revision === 0 ? "No fit yet"
        : fresh === 0 ? "All decisions are learnt"
          : `${fresh} new since the last fit${every ? `, next at ${every}` : ""}`;
  node.textContent = told;
  node.classList.toggle("busy", progress.refitting);
  button.disabled = progress.refitting || fresh === 0;
}
