// A sentence being corrected: its spans, and one range of tokens in hand.
//
// The range in hand has a label or none (null). It may be moved, widened and narrowed; with
// a label it pushes the other spans aside, and they come back as it goes. Positions are
// those of the sentence, ends exclusive. Nothing here knows of the page.

const byStart = (a, b) => a.start - b.start || a.end - b.end;
const alike = (a, b) => a.start === b.start && a.end === b.end;
const same = (a, b) => alike(a, b) && a.label === b.label;
const among = (spans, span, equal = same) => spans.some((one) => equal(one, span));

/** Whether two ranges share a token. */
export const meets = (a, b) => a.start < b.end && b.start < a.end;

/** The smallest range around others. */
const hull = (ranges) => ({
  start: Math.min(...ranges.map((range) => range.start)),
  end: Math.max(...ranges.map((range) => range.end)),
});

/** Parts of a span that lie outside a range. */
function outside(span, range) {
  if (!meets(span, range)) return [span];
  const left = { ...span, end: Math.min(span.end, range.start) };
  const right = { ...span, start: Math.max(span.start, range.end) };
  return [left, right].filter((part) => part.start < part.end);
}

export class Draft {
  /** `item` is what the server sent; `plain` tags stand on one token each. */
  constructor(item, plain = false) {
    this.from = item.from;
    this.to = item.from + item.tokens.length;
    this.plain = plain;
    this.before = item.spans.map(({ start, end, label }) => ({ start, end, label }));
    this.asked = { start: item.start, end: item.end };
    this.reset();
  }

  /** Forget all changes. */
  reset() {
    const held = this.before.find((span) => meets(span, this.asked));
    this.rest = this.before.filter((span) => span !== held);
    this.range = held ? { ...held } : { ...this.asked, label: null };
  }

  /** All spans as they are now, in order, without overlaps. */
  get spans() {
    if (this.range.label === null) return this.rest;
    const others = this.rest.flatMap((span) => outside(span, this.range));
    return [...others, this.range].sort(byStart);
  }

  get changed() {
    const now = this.spans;
    return now.length !== this.before.length || !now.every((span) => among(this.before, span));
  }

  /** Give the range a label; null is none. */
  relabel(label) {
    this.range.label = label;
  }

  /** Move the first and the last bound of the range; false where that cannot be. */
  stretch(first, last) {
    const start = this.range.start + first;
    const end = this.range.end + last;
    if (start < this.from || end > this.to || start >= end) return false;
    if (!this.plain) Object.assign(this.range, { start, end });
    else if (first === last) this.hold(start, end);
    return !this.plain || first === last;
  }

  /** Take up a range: a span that is there as it is, anything else without a label. */
  hold(start, end) {
    const now = this.spans;
    const held = now.find((span) => alike(span, { start, end }));
    this.rest = now.filter((span) => span !== held);
    this.range = held ? { ...held } : { start, end, label: null };
  }

  /** Take up the span around a token, or the token itself. */
  holdAt(token) {
    const around = this.spans.find((span) => span.start <= token && token < span.end);
    this.hold(around?.start ?? token, around?.end ?? token + 1);
  }

  /** Take up the next span of the sentence, or the one before, round and round. */
  holdNext(step) {
    const stops = this.spans.slice();
    if (!among(stops, this.asked, meets)) stops.push(this.asked);
    stops.sort(byStart);
    const here = stops.findIndex((stop) => meets(stop, this.range));
    const start = here < 0 ? stops.findIndex((stop) => stop.start > this.range.start) : here;
    const next = here < 0 && step > 0 ? Math.max(start, 0) : start + step;
    const stop = stops[(next + 2 * stops.length) % stops.length];
    this.hold(stop.start, stop.end);
  }

  /** Set the range to bounds that were pointed out: of the span in hand, or a new one. */
  select(start, end) {
    if (this.plain) this.holdAt(start);
    else if (this.range.label === null || !meets(this.range, { start, end })) this.hold(start, end);
    else Object.assign(this.range, { start, end });
  }

  /** Take over what somebody has said of the range in question: spans, or none. */
  adopt(spans) {
    this.reset();
    if (!spans.length) return this.relabel(null);
    for (const { label, ...said } of spans) {
      const start = Math.max(said.start, this.from);
      const end = Math.min(said.end, this.to);
      if (this.range.label === null || meets(this.range, { start, end })) {
        this.range = { start, end, label };
      } else {
        this.hold(start, end);
        this.relabel(label);
      }
    }
  }

  /** What is decided: the tokens judged, old and new bounds together, and their spans. */
  get decision() {
    const now = this.spans;
    const gone = this.before.filter((span) => !among(now, span));
    const come = now.filter((span) => !among(this.before, span));
    const judged = [this.asked, ...gone, ...come];
    const inside = now.filter((span) => meets(span, hull(judged)));
    const spans = inside.map(({ start, end, label }) => ({ start, end, label }));
    return { action: this.action(gone, come, spans), ...hull([...judged, ...inside]), spans };
  }

  action(gone, come, spans) {
    if (!gone.length && !come.length) return "accept";
    if (!spans.length) return "none";
    const renamed = gone.length === come.length && come.every((span) => among(gone, span, alike));
    return renamed ? "relabel" : "bounds";
  }
}
