// What is wrong with a page as it is shown now, in at most a dozen sentences.
([leastPx, leastContrast]) => {
  const wrong = new Set();
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) wrong.add(`the page is ${root.scrollWidth} px wide`);
  for (const box of document.querySelectorAll(".scroll"))
    if (box.checkVisibility() && box.scrollWidth > box.clientWidth + 2 && box.nextElementSibling?.checkVisibility() !== true)
      wrong.add("a table goes on beyond its edge without a sign");
  // Whatever space a colour is written in, a canvas says what is shown.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parsed = new Map();
  const parse = (c) => {
    if (!parsed.has(c)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = c;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      parsed.set(c, [r, g, b, a / 255]);
    }
    return parsed.get(c);
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v /= 255, v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c[3] === 1) return luminance(c);
    }
    return luminance([255, 255, 255]);
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walk.nextNode()) {
    const node = walk.currentNode, e = node.parentElement, text = node.textContent.trim();
    if (!text || !e.checkVisibility({ visibilityProperty: true }) || e.closest(".away, script, style, title")) continue;
    const style = getComputedStyle(e), svg = e.closest("svg");
    let size = parseFloat(style.fontSize);
    if (svg) {
      const m = e.getScreenCTM();
      size *= Math.sqrt(Math.abs(m.a * m.d - m.b * m.c));
    }
    seen++;
    if (size < leastPx - 0.01) wrong.add(`${size.toFixed(1)} px: ${text.slice(0, 40)}`);
    // Text on bars and cells stands on their colour, which the picture chose for it.
    if (e.closest("text.inside, svg:has(image)")) continue;
    const found = contrast(luminance(parse(svg ? style.fill : style.color)), ground(svg ? svg.parentElement : e));
    if (found < leastContrast) wrong.add(`contrast ${found.toFixed(2)}: ${text.slice(0, 40)}`);
    // A word of a heading, a name or a cell stays in one line.
    if (e.closest("h1, h2, h3, th, td, dt, .cast b, .notes b") && !e.closest("code, svg"))
      for (const word of node.textContent.matchAll(/[\p{L}\d.]{2,14}/gu)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const tops = new Set([...range.getClientRects()].filter((r) => r.width > 0.5).map((r) => Math.round(r.top)));
        if (tops.size > 1) wrong.add(`broken: ${word[0]} in ${text.slice(0, 40)}`);
      }
  }
  if (seen < 20) wrong.add(`only ${seen} texts are seen`);
  return [...wrong].slice(0, 12);
}
