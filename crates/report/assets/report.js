"use strict";
// Adds to the finished page what only a browser can: a crosshair that reads the curves, by pointer
// or by arrow keys, and downloads of each picture and its data.
(() => {
  document.documentElement.classList.add("scripted");
  const SVG = "http://www.w3.org/2000/svg";

  const three = (x) => (x >= 1000 ? Math.round(Number(x.toPrecision(3))).toLocaleString("en") : String(Number(x.toPrecision(3))));
  const scaled = (x, units) => {
    let [size, sign] = units[0];
    for (const [s, t] of units) if (Math.abs(x) >= s * 0.9995) [size, sign] = [s, t];
    return three(x / size) + (sign ? "\u00a0" + sign : "");
  };
  const show = {
    us: (x) => scaled(x, [[1e-3, "ns"], [1, "µs"], [1e3, "ms"], [1e6, "s"]]),
    mb_per_s: (x) => (x === 0 ? "0" : scaled(x, [[1e-3, "kB/s"], [1, "MB/s"], [1e3, "GB/s"]])),
    s: (x) => scaled(x, [[1e-6, "µs"], [1e-3, "ms"], [1, "s"], [60, "min"], [3600, "h"], [86400, "d"]]),
    "": (x) => three(x),
  };

  // Fields may be quoted; the header is the first row.
  const parse = (text) => {
    const rows = [];
    let row = [], field = "", quoted = false;
    for (let i = 0; i < text.length; i++) {
      const c = text[i];
      if (quoted) {
        if (c === '"' && text[i + 1] === '"') { field += c; i++; } else if (c === '"') quoted = false; else field += c;
      } else if (c === '"') quoted = true;
      else if (c === ",") { row.push(field); field = ""; }
      else if (c === "\n") { row.push(field); rows.push(row); row = []; field = ""; }
      else field += c;
    }
    return rows;
  };

  const series = (csv) => {
    const runs = new Map();
    for (const [name, ...rest] of parse(csv).slice(1)) {
      if (!runs.has(name)) runs.set(name, []);
      runs.get(name).push(rest.map((v) => (v === "" ? null : Number(v))));
    }
    return [...runs].map(([name, rows]) => ({ name, rows }));
  };

  const scale = (text) => {
    const [kind, ...numbers] = text.split(" ");
    const [min, max, from, to] = numbers.map(Number);
    const log = kind === "log";
    return {
      min, max, from, to,
      at: (v) => from + (log ? Math.log(v / min) / Math.log(max / min) : (v - min) / (max - min)) * (to - from),
      value: (p) => { const f = (p - from) / (to - from); return log ? min * (max / min) ** f : min + f * (max - min); },
    };
  };

  const element = (name, attributes, parent) => {
    const e = document.createElementNS(SVG, name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    parent.append(e);
    return e;
  };

  const tooltip = (plot) => {
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    tip.setAttribute("role", "status");
    plot.append(tip);
    return {
      hide: () => { tip.hidden = true; },
      // Lines are [text] or [text, value, ink].
      show: (x, y, lines) => {
        tip.replaceChildren(...lines.map(([text, value, ink]) => {
          const p = document.createElement("p");
          if (ink) {
            const s = element("svg", { class: "swatch", viewBox: "0 0 10 10" }, p);
            element("rect", { class: ink.cls, fill: ink.colour, width: 10, height: 10, rx: 2.5 }, s);
          }
          p.append(text);
          if (value !== undefined) { const b = document.createElement("b"); b.textContent = value; p.append(b); }
          return p;
        }));
        tip.hidden = false;
        const left = x + 16 + tip.offsetWidth > plot.clientWidth ? x - 16 - tip.offsetWidth : x + 16;
        tip.style.left = Math.max(0, Math.min(left, plot.clientWidth - tip.offsetWidth)) + "px";
        tip.style.top = Math.max(0, Math.min(y - tip.offsetHeight / 2, plot.clientHeight - tip.offsetHeight)) + "px";
      },
    };
  };

  // Share of requests at a level of the tail scale, as text.
  const share = (level) => {
    const f = 100 * (1 - 10 ** -level);
    return "p" + Number(f.toFixed(level < 2 ? 1 : level < 3 ? 2 : 3));
  };

  const crosshair = (plot, svg, runs) => {
    const cdf = svg.dataset.kind === "cdf";
    const unit = show[svg.dataset.unit] || show[""];
    const inks = svg.dataset.inks.split(" ").map((i) => { const [cls, colour] = i.split(":"); return { cls, colour }; });
    const x = scale(svg.dataset.x);
    const y = cdf ? scale(svg.dataset.y) : null;
    const span = cdf ? [y.to, y.from] : svg.dataset.y.split(" ").map(Number);
    const line = element("line", { class: "cross", visibility: "hidden" }, svg);
    const dots = cdf ? runs.map((_, i) => element("circle", { class: inks[i].cls, fill: inks[i].colour, r: 4, visibility: "hidden" }, svg)) : [];
    const tip = tooltip(plot);
    const width = svg.viewBox.baseVal.width;
    let at = null;

    // Latency of a run at a share, between its points in the logarithm.
    const latency = (rows, level) => {
      const wanted = 1 - 10 ** -level;
      let before = null;
      for (const row of rows) {
        if (row[1] >= wanted) {
          if (!before || row[1] === before[1]) return row[0];
          return before[0] * (row[0] / before[0]) ** ((wanted - before[1]) / (row[1] - before[1]));
        }
        before = row;
      }
      return before ? before[0] : null;
    };

    const draw = () => {
      const zoom = plot.clientWidth / width;
      line.setAttribute("visibility", "visible");
      if (cdf) {
        const p = y.at(at);
        for (const [k, v] of [["x1", x.from], ["x2", x.to], ["y1", p], ["y2", p]]) line.setAttribute(k, v);
        const found = runs.map((r) => latency(r.rows, at));
        found.forEach((v, i) => {
          dots[i].setAttribute("visibility", v === null ? "hidden" : "visible");
          if (v !== null) { dots[i].setAttribute("cx", Math.min(x.to, Math.max(x.from, x.at(v)))); dots[i].setAttribute("cy", p); }
        });
        const far = Math.max(...found.filter((v) => v !== null).map((v) => x.at(v)));
        tip.show(far * zoom, p * zoom, [[share(at)], ...runs.map((r, i) => [r.name, found[i] === null ? "–" : unit(found[i]), inks[i]])]);
      } else {
        const p = x.at(at);
        for (const [k, v] of [["x1", p], ["x2", p], ["y1", span[0]], ["y2", span[1]]]) line.setAttribute(k, v);
        const lines = runs.map((r, i) => {
          let near = null;
          for (const row of r.rows) if (near === null || Math.abs(row[0] - at) < Math.abs(near[0] - at)) near = row;
          const values = near.slice(1).map((v) => (v === null ? "–" : unit(v)));
          return [r.name, values.join(", longest "), inks[i]];
        });
        tip.show(p * zoom, ((span[0] + span[1]) / 2) * zoom, [[show.s(at)], ...lines]);
      }
    };
    const hide = () => {
      at = null;
      tip.hide();
      line.setAttribute("visibility", "hidden");
      for (const d of dots) d.setAttribute("visibility", "hidden");
    };
    const axis = cdf ? y : x;
    const put = (value) => { at = Math.min(axis.max, Math.max(axis.min, value)); draw(); };
    plot.addEventListener("pointermove", (e) => {
      const box = svg.getBoundingClientRect();
      const zoom = width / box.width;
      put(axis.value((cdf ? e.clientY - box.top : e.clientX - box.left) * zoom));
    });
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[e.key];
      if (step) {
        const range = axis.max - axis.min;
        put(at === null ? axis.min + range / 2 : at + (step * range) / (e.shiftKey ? 10 : 80));
        e.preventDefault();
      } else if (e.key === "Escape") hide();
    });
  };

  // Bars say what they are in their titles; by arrow keys one after the other.
  const bars = (plot, svg) => {
    const tip = tooltip(plot);
    const all = [...svg.querySelectorAll("rect.bar")].map((rect) => {
      const title = rect.querySelector("title");
      const says = title.textContent;
      title.remove();
      rect.setAttribute("aria-label", says);
      return { rect, says };
    });
    let at = -1;
    const tell = ({ rect, says }) => {
      const box = rect.getBoundingClientRect(), home = plot.getBoundingClientRect();
      tip.show(box.left + box.width / 2 - home.left, box.top - home.top + 44, [[says]]);
    };
    all.forEach((bar, i) => bar.rect.addEventListener("pointerenter", () => { at = i; tell(bar); }));
    plot.addEventListener("pointerleave", tip.hide);
    plot.addEventListener("blur", tip.hide);
    plot.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (step && all.length) {
        at = (at + step + all.length) % all.length;
        tell(all[at]);
        e.preventDefault();
      } else if (e.key === "Escape") tip.hide();
    });
  };

  const download = (name, type, text) => {
    const a = document.createElement("a");
    a.download = name;
    a.href = `data:${type};charset=utf-8,` + encodeURIComponent(text);
    a.click();
  };

  for (const figure of document.querySelectorAll("figure")) {
    const plot = figure.querySelector(".plot"), svg = plot.querySelector("svg");
    const csv = figure.querySelector(".csv").textContent;
    const picture = svg.outerHTML;
    for (const button of figure.querySelectorAll("button")) {
      button.setAttribute("aria-label", `Download ${button.textContent}: ${figure.querySelector("h3").textContent}`);
      button.addEventListener("click", () => {
        if (button.dataset.get === "csv") download(figure.id + ".csv", "text/csv", csv);
        else download(figure.id + ".svg", "image/svg+xml", picture);
      });
    }
    if (svg.dataset.kind === "bars") bars(plot, svg);
    else crosshair(plot, svg, series(csv));
  }
})();
