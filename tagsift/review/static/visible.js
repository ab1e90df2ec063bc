// Text from outside, made safe to show. It enters the page by textContent alone; here
// signs that turn the direction of writing, or show nothing, become visible.

const UNSEEN = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u2028\u2029\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
const LONGEST = 160;
const RIGHT_TO_LEFT = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

const named = (char) => `\\u{${char.codePointAt(0).toString(16)}}`;

/** The text with unseen signs written out, cut in the middle where it is very long. */
export function visible(text, most = LONGEST) {
  const chars = text.length > most ? [...text] : null;
  if (!chars || chars.length <= most) return text.replace(UNSEEN, named);
  const [head, tail] = [chars.slice(0, Math.floor(0.7 * most)), chars.slice(-Math.floor(0.3 * most))];
  return `${head.join("")} … ${tail.join("")}`.replace(UNSEEN, named);
}

/** Whether text is written from right to left. */
export const fromRight = (text) => RIGHT_TO_LEFT.test(text);

/** An element with attributes and children; strings become text. */
export function make(tag, attributes = {}, ...children) {
  const svg = tag === "svg" || ["path", "line", "circle", "text"].includes(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("--")) node.style.setProperty(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}
