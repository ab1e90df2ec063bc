// The sentence with its spans in colour. Of a very long one the server sends a part.

import { fromRight, make, visible } from "./visible.js";

export class SentenceView {
  /** `point` is called with a token and whether Shift is held, `select` with a range. */
  constructor(node, colourOf, plain, { point, select }) {
    Object.assign(this, { node, colourOf, point, select, pressed: null });
    node.classList.toggle("plain", plain);
    node.addEventListener("pointerdown", (event) => this.press(event));
    node.addEventListener("pointermove", (event) => this.drag(event));
    node.addEventListener("pointerup", (event) => this.release(event));
    node.addEventListener("pointercancel", () => this.sweep(null));
  }

  /** Begin with another item. */
  open(item, draft) {
    this.item = item;
    this.draft = draft;
    const long = item.tokens.length > 80; // it scrolls, so that it must take the focus
    this.node.classList.toggle("long", long);
    this.node.tabIndex = long ? 0 : -1;
    this.node.dir = fromRight(item.tokens.slice(0, 20).join(" ")) ? "rtl" : "ltr";
    this.show();
  }

  /** Show the draft as it is now. */
  show() {
    const { range, spans, from, to } = this.draft;
    const stops = spans.includes(range) ? spans : [...spans, range];
    const nodes = [];
    let at = from;
    for (const span of stops.toSorted((a, b) => a.start - b.start)) {
      const start = Math.max(span.start, at);
      const end = Math.min(span.end, to);
      if (start >= end) continue;
      nodes.push(...this.words(at, start), this.span(span, start, end), this.space(end - 1));
      at = end;
    }
    nodes.push(...this.words(at, to));
    const missing = (count, side) =>
      make("span", { class: "gap" }, `… ${count.toLocaleString()} tokens ${side} …`);
    if (from > 0) nodes.unshift(missing(from, "before"), " ");
    if (to < this.item.n_tokens) nodes.push(" ", missing(this.item.n_tokens - to, "after"));
    this.node.replaceChildren(...nodes);
    const block = this.node.classList.contains("long") ? "center" : "nearest";
    this.node.querySelector(".held")?.scrollIntoView({ block });
  }

  space(token) {
    return this.item.spaces[token - this.item.from] ? " " : "";
  }

  words(from, to) {
    const nodes = [];
    for (let i = from; i < to; i += 1) {
      const token = this.item.tokens[i - this.item.from];
      const text = visible(token);
      const title = text === token ? null : visible(token, 1000);
      nodes.push(make("span", { class: "token", "data-token": i, title }, text), this.space(i));
    }
    return nodes;
  }

  span(span, start, end) {
    const held = span === this.draft.range;
    const bare = span.label === null;
    const done = this.item.checked.some(([from, to]) => from <= span.start && span.end <= to);
    const mark = make("mark", { class: "span" }, ...this.words(start, end).slice(0, -1));
    for (const [name, on] of Object.entries({ held, bare, checked: done })) {
      mark.classList.toggle(name, on);
    }
    if (!bare) {
      mark.style.setProperty("--c", this.colourOf(span.label));
      mark.append(make("span", { class: "tag" }, visible(span.label, 40)));
    }
    if (held) mark.prepend(make("span", { class: "hidden" }, "in question: "));
    return mark;
  }

  tokenAt(event) {
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const token = under?.closest(".token");
    return token && this.node.contains(token) ? Number(token.dataset.token) : null;
  }

  press(event) {
    const token = this.tokenAt(event);
    if (event.button !== 0 || token === null) return;
    this.pressed = { first: token, last: token };
    if (event.pointerType === "mouse") event.preventDefault();
  }

  drag(event) {
    const token = this.pressed && event.pointerType === "mouse" ? this.tokenAt(event) : null;
    if (token === null || token === this.pressed.last) return;
    this.sweep({ first: this.pressed.first, last: token });
  }

  release(event) {
    if (!this.pressed) return;
    const { first, last } = this.pressed;
    this.sweep(null);
    if (first !== last) this.select(Math.min(first, last), Math.max(first, last) + 1);
    else if (this.tokenAt(event) === first) this.point(first, event.shiftKey);
  }

  sweep(pressed) {
    this.pressed = pressed;
    const ends = pressed ? [pressed.first, pressed.last].sort((a, b) => a - b) : [1, 0];
    for (const token of this.node.querySelectorAll(".token")) {
      const i = Number(token.dataset.token);
      token.classList.toggle("swept", ends[0] <= i && i <= ends[1]);
    }
  }
}
