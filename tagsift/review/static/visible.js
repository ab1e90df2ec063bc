// Text from outside, made safe to show. It enters the page by textContent alone; here
// signs that turn the direction of writing, or show nothing, become visible.

/** What cannot be seen; joiners are spelling. */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const LONGEST = 160;
const SVG = "http://www.w3.org/2000/svg";
const FROM_RIGHT = /^\P{L}*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;

const named = (char) => `\\u{${char.codePointAt(0).toString(16)}}`;

/** The text with unseen signs written out, cut in the middle where it is very long. */
export function visible(text, most = LONGEST) {
  const chars = text.length > most ? [...text] : null;
  if (!chars || chars.length <= most) return text.replace(UNSEEN, named);
  const head = chars.slice(0, Math.floor(0.7 * most));
  const tail = chars.slice(-Math.floor(0.3 * most));
  return `${head.join("")} … ${tail.join("")}`.replace(UNSEEN, named);
}

/** Whether text is written from right to left. */
export const fromRight = (text) => FROM_RIGHT.test(text);

/** An element with attributes and children; strings become text. */
export function make(tag, attributes = {}, ...children) {
  const drawn = ["svg", "path", "line", "circle", "text"].includes(tag);
  const node = drawn ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("--")) node.style.setProperty(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}
