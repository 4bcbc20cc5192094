"use strict";
// Adds to a finished page what only a browser can: a crosshair that reads the curves, by pointer or by arrow
// keys, curves that hide when their name is clicked, downloads of each picture and its data, commands that are
// copied, and a word below a table that goes on beyond its edge.
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
    pages: (x) => Math.round(x).toLocaleString("en") + " pages written",
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

  // The scale of shares (figures/cdf.rs): even up to 90 %, from there to p99.99 each step ten times rarer.
  const BODY = 0.5;
  const fraction = (u) => (u <= BODY ? (0.9 * u) / BODY : 1 - 10 ** -(1 + (3 * (u - BODY)) / (1 - BODY)));
  const share = (u) => {
    const rarer = -Math.log10(1 - fraction(u));
    return "p" + Number((100 * fraction(u)).toFixed(rarer < 1 ? 0 : rarer < 2 ? 1 : rarer < 3 ? 2 : 3));
  };

  // A name in the picture shows or hides its curve; returns the numbers of those that are hidden.
  const legend = (svg, changed) => {
    const hidden = new Set();
    const names = svg.querySelectorAll("text[data-run]");
    // An image holds nothing to press.
    if (names.length) svg.setAttribute("role", "group");
    for (const name of names) {
      const run = name.dataset.run;
      for (const [k, v] of Object.entries({ role: "button", tabindex: 0, "aria-pressed": "true" })) name.setAttribute(k, v);
      const toggle = () => {
        if (!hidden.delete(run)) hidden.add(run);
        for (const e of svg.querySelectorAll(`[data-run="${run}"]`)) e.classList.toggle("off", hidden.has(run));
        name.setAttribute("aria-pressed", String(!hidden.has(run)));
        changed();
      };
      name.addEventListener("click", toggle);
      name.addEventListener("keydown", (e) => {
        if (e.key === "Enter" || e.key === " ") { toggle(); e.preventDefault(); }
      });
    }
    return hidden;
  };

  const crosshair = (plot, svg, runs) => {
    const cdf = svg.dataset.kind === "cdf";
    // Over pages a value holds until the next; over time it is that of a bin, at its middle.
    const along = svg.dataset.along || "s", held = along === "pages";
    const unit = show[svg.dataset.unit] || show[""];
    const inks = svg.dataset.inks.split(" ").map((i) => { const [cls, colour] = i.split(":"); return { cls, colour }; });
    const x = scale(svg.dataset.x);
    const y = cdf ? scale(svg.dataset.y) : null;
    const span = cdf ? [y.to, y.from] : svg.dataset.y.split(" ").map(Number);
    const line = element("line", { class: "cross", visibility: "hidden" }, svg);
    const dots = cdf ? runs.map((_, i) => element("circle", { class: inks[i].cls, fill: inks[i].colour, r: 4, visibility: "hidden" }, svg)) : [];
    const tip = tooltip(plot);
    const width = svg.viewBox.baseVal.width;
    const hidden = legend(svg, () => { if (at !== null) draw(); });
    let at = null;

    // Latency of a run at a share, between its points in the logarithm.
    const latency = (rows, level) => {
      const wanted = fraction(level);
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
          dots[i].setAttribute("visibility", v === null || hidden.has(String(i)) ? "hidden" : "visible");
          if (v !== null) { dots[i].setAttribute("cx", Math.min(x.to, Math.max(x.from, x.at(v)))); dots[i].setAttribute("cy", p); }
        });
        const far = Math.max(...found.filter((v) => v !== null).map((v) => x.at(v)));
        tip.show(far * zoom, p * zoom, [[share(at)], ...runs.map((r, i) => [r.name, found[i] === null ? "–" : unit(found[i]), inks[i]]).filter((_, i) => !hidden.has(String(i)))]);
      } else {
        const p = x.at(at);
        for (const [k, v] of [["x1", p], ["x2", p], ["y1", span[0]], ["y2", span[1]]]) line.setAttribute(k, v);
        const lines = runs.map((r, i) => {
          let near = null;
          for (const row of r.rows) if (near === null || (held ? row[0] <= at : Math.abs(row[0] - at) < Math.abs(near[0] - at))) near = row;
          const values = near.slice(1).map((v) => (v === null ? "–" : unit(v)));
          return [r.name, values.join(", longest "), inks[i]];
        }).filter((_, i) => !hidden.has(String(i)));
        tip.show(p * zoom, ((span[0] + span[1]) / 2) * zoom, [[show[along](at)], ...lines]);
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

  // The map of blocks: a slider through time, a choice of what colours mean, and a cursor that reads cells.
  const blocks = (figure, plot, svg) => {
    const maps = [...svg.querySelectorAll("g.map")].map((g) => {
      const rows = g.dataset.rows.split(";").map((r) => r.split(" ").map(Number));
      const legend = g.dataset.legend.split(";").map((k) => {
        const [region, mode, state, colour, cls] = k.split("|");
        return { region, mode, state, colour, cls };
      });
      const frames = g.dataset.frames.split(";").map((f) => { const [at, cells, live] = f.split(" "); return { at: Number(at), cells, live }; });
      const [left, top, wide, high, columns] = ["left", "top", "wide", "high", "columns"].map((k) => Number(g.dataset[k]));
      // Where each cell lies, and which block it is.
      const cells = [];
      let line = 0;
      for (const [plane, first, every, count] of rows) {
        for (let i = 0; i < count; i++)
          cells.push({ plane, block: first + i * every, column: i % columns, line: line + Math.floor(i / columns) });
        line += Math.ceil(count / columns);
      }
      for (const cell of cells) Object.assign(cell, { x: left + cell.column * wide, y: top + cell.line * high });
      return { g, name: g.dataset.name, legend, frames, cells, wide, high, frame: frames.at(-1) };
    });
    const letter = (c) => { const n = c.charCodeAt(0); return n >= 97 ? n - 71 : n - 65; };
    const longest = maps.reduce((a, b) => (b.frames.length > a.frames.length ? b : a));
    const STATES = { open: "#b0b8c1", full: "#59626d", emptied: "#c7405e", erased: "#e3e6ea", retired: "#1d232b" };
    // Regions of one cell mode are shades of its colour.
    const shades = new Map();
    for (const k of maps.flatMap((m) => m.legend).filter((k) => k.region)) {
      const of = [...shades.values()].filter((s) => s.base === k.colour).length;
      if (!shades.has(k.region)) shades.set(k.region, { base: k.colour, of });
    }
    const shaded = ({ base, of }) => "#" + [1, 3, 5].map((i) => {
      const v = parseInt(base.slice(i, i + 2), 16);
      return Math.round(v + (of % 2 ? 255 - v : -v) * Math.min(0.75, 0.3 * Math.ceil(of / 2))).toString(16).padStart(2, "0");
    }).join("");
    const owned = (k) => k.state === "open" || k.state === "full";
    const inks = {
      mode: (k) => ({ colour: k.colour, cls: k.cls, name: owned(k) ? k.mode.toUpperCase() : { erased: "erased", emptied: "being emptied", retired: "retired" }[k.state] }),
      state: (k) => ({ colour: STATES[k.state], cls: "b-" + k.state, name: k.state === "emptied" ? "being emptied" : k.state }),
      region: (k) => (k.region ? { colour: shaded(shades.get(k.region)), cls: "", name: "region " + k.region } : inks.mode(k)),
    };

    const controls = document.createElement("p");
    controls.className = "scrub";
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 0, max: longest.frames.length - 1, step: 1, value: longest.frames.length - 1 });
    slider.setAttribute("aria-label", "Simulated time");
    const time = document.createElement("output");
    const choice = document.createElement("select");
    choice.setAttribute("aria-label", "What colors mean");
    for (const by of Object.keys(inks)) choice.append(new Option("by " + by, by));
    const key = document.createElement("span");
    key.className = "key";
    controls.append(slider, time, choice, key);
    figure.insertBefore(controls, plot);
    // The picture's own legend is that of modes.
    for (const e of [...svg.children].filter((e) => e.tagName === "rect" || (e.tagName === "text" && e.classList.contains("tick")))) e.remove();
    svg.viewBox.baseVal.height -= 26;
    svg.setAttribute("height", svg.viewBox.baseVal.height);

    const draw = () => {
      const at = longest.frames[Number(slider.value)].at;
      const seen = new Map();
      for (const map of maps) {
        // The last frame until then: one that is later has not happened yet.
        map.frame = map.frames.findLast((f) => f.at <= at) || map.frames[0];
        const paths = new Map();
        map.cells.forEach((cell, i) => {
          const kind = map.legend[letter(map.frame.cells[i])];
          if (!kind) return;
          const ink = inks[choice.value](kind);
          const shade = owned(kind) ? Math.floor(Number(map.frame.live[i]) / 2) : 4;
          const id = ink.colour + ink.cls + shade;
          if (!paths.has(id)) paths.set(id, { ink, shade, d: [] });
          paths.get(id).d.push(`M${cell.column} ${cell.line}h1`);
          seen.set(ink.name, ink);
        });
        map.g.replaceChildren();
        for (const { ink, shade, d } of paths.values())
          element("path", { class: ink.cls, stroke: ink.colour, "stroke-opacity": 0.25 + (0.75 * shade) / 4, "stroke-width": 1 - 1 / map.high, d: d.join("") }, map.g);
      }
      time.textContent = at === 0 ? "0 s" : show.s(at / 1e9);
      key.replaceChildren(...[...seen].map(([name, ink]) => {
        const item = document.createElement("span");
        const s = element("svg", { class: "swatch", viewBox: "0 0 10 10" }, item);
        element("rect", { class: ink.cls, fill: ink.colour, width: 10, height: 10, rx: 2.5 }, s);
        item.append(name);
        return item;
      }));
      if (at_cell) tell(...at_cell);
    };

    const tip = tooltip(plot);
    const cursor = element("rect", { class: "cursor", visibility: "hidden", fill: "none" }, svg);
    const width = svg.viewBox.baseVal.width;
    let at_cell = null;
    const tell = (m, i) => {
      const map = maps[m], cell = map.cells[i], kind = map.legend[letter(map.frame.cells[i])];
      at_cell = [m, i];
      for (const [k, v] of Object.entries({ x: cell.x, y: cell.y, width: map.wide, height: map.high - 1, visibility: "visible" })) cursor.setAttribute(k, v);
      const zoom = plot.clientWidth / width;
      const live = Number(map.frame.live[i]);
      const lines = [[map.name], [`plane ${cell.plane}, block ${cell.block}`]];
      if (kind && owned(kind)) lines.push([`${kind.mode.toUpperCase()}, region ${kind.region}, ${kind.state}`], [live === 9 ? "live: nine tenths or more" : `live: ${live} to ${live + 1} tenths`]);
      else if (kind) lines.push([kind.state === "emptied" ? `being emptied, ${kind.mode.toUpperCase()}, region ${kind.region}` : kind.state]);
      tip.show((cell.x + map.wide) * zoom, cell.y * zoom, lines);
    };
    const hide = () => { at_cell = null; tip.hide(); cursor.setAttribute("visibility", "hidden"); };
    plot.addEventListener("pointermove", (e) => {
      const box = svg.getBoundingClientRect(), zoom = width / box.width;
      const x = (e.clientX - box.left) * zoom, y = (e.clientY - box.top) * zoom;
      for (const [m, map] of maps.entries()) {
        const i = map.cells.findIndex((c) => x >= c.x && x < c.x + map.wide && y >= c.y && y < c.y + map.high);
        if (i >= 0) return tell(m, i);
      }
      hide();
    });
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (e) => {
      if (e.key === "Escape") return hide();
      const [m, i] = at_cell || [0, -1];
      const map = maps[m];
      const below = (d) => {
        const c = map.cells[Math.max(i, 0)];
        const near = map.cells.findIndex((o) => o.x === c.x && Math.abs(o.y - c.y - d * map.high) < 0.1);
        return near < 0 ? i : near;
      };
      const to = { ArrowRight: () => i + 1, ArrowLeft: () => i - 1, ArrowDown: () => below(1), ArrowUp: () => below(-1) }[e.key];
      if (!to) return;
      e.preventDefault();
      const n = to();
      if (n >= map.cells.length && m + 1 < maps.length) tell(m + 1, 0);
      else if (n < 0 && m > 0) tell(m - 1, maps[m - 1].cells.length - 1);
      else tell(m, Math.max(0, Math.min(map.cells.length - 1, n)));
    });
    slider.addEventListener("input", draw);
    choice.addEventListener("change", draw);
    draw();
  };

  const download = (name, type, text) => {
    const a = document.createElement("a");
    a.download = name;
    a.href = `data:${type};charset=utf-8,` + encodeURIComponent(text);
    a.click();
  };

  // A link to what is folded away unfolds it, and so does an address that ends in its name; paper has no folds.
  const unfold = (id) => {
    for (let e = id && document.getElementById(id); e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  };
  for (const link of document.querySelectorAll('a[href^="#"]')) link.addEventListener("click", () => unfold(link.hash.slice(1)));
  const arrive = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    unfold(id);
    if (id) document.getElementById(id)?.scrollIntoView();
  };
  addEventListener("hashchange", () => unfold(decodeURIComponent(location.hash.slice(1))));
  if (location.hash) arrive();
  addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details.part")) part.open = true; });

  // The list of contents marks the section that is being read.
  const entries = [...document.querySelectorAll(".contents a")].map((link) => ({ link, part: document.getElementById(link.hash.slice(1)) }));
  if (entries.length) {
    const mark = () => {
      const read = entries.findLast(({ part }) => part && part.getBoundingClientRect().top < 90) || entries[0];
      for (const { link } of entries) if (link === read.link) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    };
    addEventListener("scroll", mark, { passive: true });
    mark();
  }

  for (const code of document.querySelectorAll(".code")) {
    const button = code.querySelector("button");
    button.addEventListener("click", async () => {
      const pre = code.querySelector("pre");
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "copied";
      } catch {
        // Without leave to write the clipboard, the text is selected, one key away from it.
        getSelection().selectAllChildren(pre);
        button.textContent = "selected";
      }
      setTimeout(() => { button.textContent = "copy"; }, 2000);
    });
  }

  // A table that goes on beyond its edge says so.
  for (const box of document.querySelectorAll(".scroll")) {
    const more = document.createElement("p");
    more.className = "more";
    more.setAttribute("aria-hidden", "true");
    more.textContent = "This table continues to the right: scroll sideways \u2192";
    box.after(more);
    const look = () => {
      more.hidden = box.scrollLeft + box.clientWidth >= box.scrollWidth - 2;
      box.classList.toggle("moved", box.scrollLeft > 1);
    };
    box.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(box);
    look();
  }

  for (const figure of document.querySelectorAll("figure")) {
    const plot = figure.querySelector(".plot"), svg = plot?.querySelector("svg");
    const data = figure.querySelector(".csv");
    if (!svg || !data) continue;
    const csv = data.textContent, picture = svg.outerHTML;
    for (const button of figure.querySelectorAll(".get button")) {
      button.setAttribute("aria-label", `Download ${button.textContent}: ${figure.querySelector("h3").textContent}`);
      button.addEventListener("click", () => {
        if (button.dataset.get === "csv") download(figure.id + ".csv", "text/csv", csv);
        else download(figure.id + ".svg", "image/svg+xml", picture);
      });
    }
    const kind = svg.dataset.kind;
    if (kind === "bars") bars(plot, svg);
    else if (kind === "blocks") blocks(figure, plot, svg);
    else if (kind === "cdf" || kind === "time") crosshair(plot, svg, series(csv));
    else legend(svg, () => {});
  }
})();
