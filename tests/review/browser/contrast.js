// Every visible text of the page whose contrast is below WCAG AA: [contrast, text, class].
() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const paint = canvas.getContext("2d", { willReadFrequently: true });
  const rgb = (...layers) => {
    paint.clearRect(0, 0, 1, 1);
    for (const colour of layers) paint.fillStyle = colour, paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement;
    const text = walk.currentNode.textContent.trim();
    const inert = node.closest(":disabled, .hidden, .skip, noscript, script");
    if (!text || inert || !node.checkVisibility() || node.getClientRects().length === 0) continue;
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.unshift(getComputedStyle(at).backgroundColor);
    const style = getComputedStyle(node);
    const ground = ["#fff", ...layers];
    const ink = style.fill !== "rgb(0, 0, 0)" && node.ownerSVGElement ? style.fill : style.color;
    const [a, b] = [light(rgb(...ground, ink)), light(rgb(...ground))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push([ratio.toFixed(2), text.slice(0, 30), node.className?.baseVal ?? node.className]);
  }
  return found;
}
