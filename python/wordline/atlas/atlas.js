"use strict";
// The atlas: means, intervals and the best choice for the conditions that are chosen, as `judge.py` has them.
(() => {
  const A = JSON.parse(document.getElementById("atlas-data").textContent);
  const FACTORS = ["load", "workload", "fill", "age", "cache"];
  // Tuned schemes stand behind the others in the cells; no best is chosen among them.
  for (const d of A.drives) {
    d.tuned = (d.tuned || []).filter((t) => t.parameters).map((t, i) => ({ ...t, s: d.schemes.length + i, name: `${t.of} (tuned)` }));
    d.spelled = [...d.schemes, ...d.tuned.map((t) => [t.name, t.device, t.scheme])];
  }
  const byKey = new Map(A.measures.map((m, i) => [m.key, i]));
  // Student's t at 97.5 %, by degrees of freedom from 1.
  const T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";

  // --- State: what is chosen, kept in the address, so that it can be passed on.
  const state = { drive: A.drives[0].name, measure: "write_mean", cost: A.finite ? "waf" : "lifetime", columns: A.by || "load", pairs: "yes", tuned: "yes" };
  for (const f of FACTORS) state[f] = "any";
  for (const [k, v] of new URLSearchParams(location.hash.slice(1))) if (k in state) state[k] = v;
  let picked = null;

  const drive = () => A.drives.find((d) => d.name === state.drive) || A.drives[0];
  const measure = (key) => A.measures[byKey.get(key)];
  const places = (d, more = {}) => {
    const want = FACTORS.map((f) => more[f] ?? state[f]);
    return d.places.filter((p) => p.at.every((level, i) => want[i] === "any" || want[i] === level));
  };
  const schemes = (d) => d.schemes.map((s, i) => [s[0], i]).filter(([name]) => state.pairs === "yes" || !name.includes("+"));

  const tunedOf = (d, name) => (state.tuned === "yes" ? d.tuned.find((t) => t.of === name) : undefined);

  // --- Means over conditions, with the interval over the seeds.
  const logs = (p, s, m) => { const c = p.cells[s]; return typeof c === "number" ? null : c[0][m]; };
  const mean = (found, key) => {
    if (!found.length) return null;
    const n = found[0][1].length, by = Array(n).fill(0);
    for (const [, row] of found) row.forEach((v, i) => (by[i] += v / 1000 / found.length));
    const log = by.reduce((a, b) => a + b, 0) / n;
    const half = n < 2 ? Infinity : (T[n - 2] || 2) * Math.sqrt(by.reduce((a, b) => a + (b - log) ** 2, 0) / (n - 1) / n);
    const kind = key.startsWith("write") ? 1 : 0;
    const few = key.endsWith("p999") && found.reduce((a, [p]) => a + p.requests[kind], 0) < A.fewest_p999;
    return { log, half, few, count: found.length, chance: few || Math.abs(log) <= half };
  };
  // The runs of a scheme, and how many of them are steady: an answer rests on four in five of them or more.
  const steady = (ps, s) => ps.reduce((a, p) => {
    const c = p.cells[s];
    return typeof c === "number" ? a : { steady: a.steady + c[1], runs: a.runs + (c[0].find((r) => r) || []).length, changing: a.changing + (c[6] || 0) };
  }, { steady: 0, runs: 0, changing: 0 });
  const stands = (r) => r.runs > 0 && r.steady >= A.enough_steady * r.runs;
  const enough = (r) => stands(r) || (A.finite && r.runs > 0);
  const judged = (r) => r.runs > 0 && r.steady + r.changing >= A.enough_steady * r.runs;
  const together = (rests) => rests.reduce((a, r) => ({ steady: a.steady + r.steady, runs: a.runs + r.runs }), { steady: 0, runs: 0 });
  const counted = (r) => A.finite ? `${r.runs.toLocaleString("en")} runs` : `${r.steady.toLocaleString("en")} of ${r.runs.toLocaleString("en")} ${r.runs === 1 ? "run" : "runs"} steady`;
  const baseline = () => drive().schemes.findIndex((x) => x[0] === drive().baseline);
  const resting = (o, ps, rests) => {
    if (!o) return null;
    o.rests = rests.map((s) => steady(ps, s));
    o.settled = o.rests.every(enough);
    o.judged = o.rests.every(judged);
    o.steady = o.rests.every(stands);
    return o;
  };
  const measured = (ps, s, key) => {
    const rows = ps.map((p) => [p, logs(p, s, byKey.get(key))]).filter(([, r]) => r);
    return resting(mean(rows, key), rows.map(([p]) => p), [s, baseline()]);
  };
  // What is extrapolated to the end of a life has no figure where runs are not steady.
  const over = (ps, s, key) => { const o = measured(ps, s, key); return o && !o.steady && A.extrapolated.includes(key) ? null : o; };
  const between = (ps, s, t, key) => {
    const m = byKey.get(key);
    const rows = ps.map((p) => [p, logs(p, s, m), logs(p, t, m)]).filter(([, a, b]) => a && b);
    return resting(mean(rows.map(([p, a, b]) => [p, a.map((v, i) => v - b[i])]), key), rows.map(([p]) => p), [s, t]);
  };
  const sign = (key) => (measure(key).more ? -1 : 1);
  const better = (key, o) => !o.chance && o.log * sign(key) < 0;
  const rank = (ps, key) => {
    const known = schemes(drive()).map(([name, s]) => ({ name, s, o: over(ps, s, key) })).filter((k) => k.o);
    const most = Math.max(0, ...known.map((k) => k.o.count));
    return known.filter((k) => k.o.count === most).sort((a, b) => sign(key) * (a.o.log - b.o.log));
  };

  // Where the best two of a condition were run with further seeds, those decide, which have not chosen the two.
  const choose = (ps, key) => {
    const [best, second] = rank(ps, key), m = byKey.get(key), again = (ps.length === 1 && ps[0].again) || {};
    if (!second) return [best];
    const [one, two] = [best, second].map((k) => again[k.s]?.[m]);
    const apart = one && two ? resting(mean([[ps[0], one.map((v, i) => v - two[i])]], key), ps, [best.s, second.s]) : between(ps, best.s, second.s, key);
    return !apart.chance && apart.log * sign(key) > 0 ? [second, best, apart] : [best, second, apart];
  };

  // --- Words.
  const digits = (x) => (x >= 99.5 ? Math.round(x).toLocaleString("en") : x.toPrecision(x < 1 ? 2 : 3));
  const ratio = (o) => digits(2 ** o.log);
  const interval = (o) => `${digits(2 ** (o.log - o.half))} to ${digits(2 ** (o.log + o.half))}`;
  const UNITS = { s: [[1, "s"], [60, "min"], [3600, "h"]], us: [[1, "µs"], [1e3, "ms"], [1e6, "s"]], B: [[1, "B"], [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"], [2 ** 50, "PiB"]] };
  const amount = (x, unit) => {
    let [size, name] = [1, unit];
    for (const [s, n] of UNITS[unit] || []) if (x >= s * 0.9995) [size, name] = [s, n];
    return digits(x / size) + (name ? "\u00a0" + name : "");
  };
  const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const level = (f, value) => A.names[f]?.[value] ?? value;
  const conditions = (n) => (n === 1 ? "one condition" : `${n} conditions`);
  const chosen = () => FACTORS.filter((f) => state[f] !== "any").map((f) => level(f, state[f]));

  // --- Controls.
  const option = (select, value, text) => { const o = document.createElement("option"); o.value = value; o.textContent = text; select.append(o); };
  const NOT_RUN = " (not run)";
  // A level that was not run together with the others that are chosen is grey, and says so.
  // With one level there is nothing to choose: the control is grey and shows it.
  const any = (f) => (A.levels[f].length === 1 ? level(f, A.levels[f][0]) : "any");
  const grey = () => {
    for (const f of FACTORS) for (const o of $(`atlas-${f}`).options) {
      const none = o.value !== "any" && !places(drive(), { [f]: o.value }).length;
      o.disabled = none && o.value !== state[f];
      o.textContent = (o.value === "any" ? any(f) : level(f, o.value)) + (none ? NOT_RUN : "");
    }
  };
  const control = (key, options) => {
    const select = $(`atlas-${key}`);
    for (const [value, text] of options) option(select, value, text);
    select.value = state[key];
    select.disabled = options.length === 1 || (FACTORS.includes(key) && options.length === 2);
    if (select.value !== state[key]) { select.selectedIndex = 0; state[key] = select.value; }
    select.addEventListener("change", () => { state[key] = select.value; picked = null; show(); });
  };
  control("drive", A.drives.map((d) => [d.name, d.title]));
  control("measure", A.measures.map((m) => [m.key, m.label]));
  control("cost", A.measures.map((m) => [m.key, m.label]));
  for (const f of FACTORS) control(f, [["any", "any"], ...A.levels[f].map((l) => [l, level(f, l)])]);
  control("columns", [...FACTORS.map((f) => [f, A.factors[f]]), ["condition", "each condition"]]);
  control("pairs", [["yes", "alone and combined"], ["no", "alone"]]);
  if ($("atlas-tuned")) control("tuned", [["yes", "published and tuned"], ["no", "published"]]);

  // --- The sentence.
  const longer = $("atlas-answer").dataset.longer;
  const unknown = (label, runs, ps) => `the best scheme by ${label} is not known, since ${runs.steady ? `only ${runs.steady.toLocaleString("en")}` : "none"} of the ${runs.runs.toLocaleString("en")} runs that it rests on ${runs.steady > 1 ? "are" : "is"} steady. ${answered(ps)}${longer && `To find out, run longer: <code>${escape(longer)}</code>`}`;
  const choice = (set, text, says = "") => `<button type="button" class="nearest" data-set="${escape(JSON.stringify(set))}"${says && ` title="${escape(says)}"`}>${escape(text)}</button>`;
  // Where the whole has no answer, single conditions may have one: buttons that choose them.
  const answered = (ps) => {
    if (ps.length < 2) return "";
    const found = ps.map((p) => [p, ...choose([p], state.measure)]).filter(([, best, , apart]) => best && best.o.settled && (!apart || apart.settled));
    if (!found.length) return "";
    const shown = found.slice(0, 6).map(([p, best]) => choice(FACTORS.map((f, i) => [f, p.at[i]]), `${better(state.measure, best.o) ? best.name : "none better"}: ${p.at.map(short).join(", ")}`, p.at.map((l, i) => level(FACTORS[i], l)).join(", ")));
    const rest = found.length > shown.length ? ` and ${found.length - shown.length} more` : "";
    return `It is known for ${found.length} of ${conditions(ps.length)}:<span class="offers">${shown.join("")}${rest}</span>`;
  };
  // Conditions that were run and differ from what is chosen in the fewest factors, as buttons that choose them.
  const nearest = () => {
    const want = FACTORS.filter((f) => state[f] !== "any");
    const apart = drive().places.map((p) => want.filter((f) => p.at[FACTORS.indexOf(f)] !== state[f]).map((f) => [f, p.at[FACTORS.indexOf(f)]]));
    const least = Math.min(...apart.map((a) => a.length));
    const offers = new Map(apart.filter((a) => a.length === least).map((a) => [JSON.stringify(a), a]));
    const shown = [...offers.values()].slice(0, 6).map((a) => {
      const said = a.map(([f, l]) => `${A.factors[f]} ${level(f, l)}`).join(", ");
      return choice(a, said);
    });
    return `Nearest that were run: ${shown.join(" ")}`;
  };
  const sentence = (ps) => {
    const d = drive(), key = state.measure, label = measure(key).label;
    const under = chosen().length ? `With ${chosen().map(escape).join(", ")}` : "Over all conditions";
    const head = `<span class="under">${under} (${conditions(ps.length)} of ${d.places.length} on ${escape(d.title)}):</span> `;
    if (!ps.length) return head + `none was run with all of these together. ${nearest()}`;
    const [best, second, apart] = choose(ps, key);
    const base = baseline();
    if (!best) {
      const runs = together(schemes(d).map(([, s]) => steady(ps, s)));
      return head + (enough(runs) ? `nothing is known of ${label}.` : unknown(label, runs, ps));
    }
    const runs = together([...new Set([best.s, second ? second.s : best.s, base])].map((s) => steady(ps, s)));
    // At whose end the drive still changes, a single condition has an answer for as long as its runs are.
    const settled = best.o.settled && (!apart || apart.settled);
    const changing = !settled && ps.length === 1 && best.o.judged && (!apart || apart.judged);
    if (!settled && !changing) return head + unknown(label, runs, ps);
    const first = changing ? `in the first ${amount(ps[0].seconds, "s")}, while the drive still changes, ` : "";
    if (!better(key, best.o)) {
      const why = best.o.few ? `fewer than ${A.fewest_p999.toLocaleString("en")} requests were measured` : "no difference is significant";
      return head + `${first}nothing beats <b>${escape(d.baseline)}</b> in ${label}: ${why}. <span class="under">${counted(runs)}.</span>`;
    }
    const costs = ["write_p99", "read_mean", "read_p99", "waf", "lifetime", "usable", "cost", "energy", "ram"]
      .filter((k) => k !== key).map((k) => [k, over(ps, best.s, k)])
      .filter(([k, o]) => o && (o.settled || changing) && !o.chance && o.log * sign(k) > 0.014)
      .sort((a, b) => Math.abs(b[1].log) - Math.abs(a[1].log)).slice(0, 4)
      .map(([k, o]) => `${measure(k).label} ${ratio(o)}×`);
    let text = head + `${first}take <b>${escape(best.name)}</b>: ${label} ${ratio(best.o)}× the plain drive's (${interval(best.o)}). `;
    text += costs.length ? `It costs: ${costs.join(", ")}. ` : "No other measure gets significantly worse. ";
    if (second) {
      text += `Second is <b>${escape(second.name)}</b> at ${ratio(second.o)}×` + (apart.chance ? ": the difference is not significant." : ".");
    }
    const tuned = tunedOf(d, best.name), came = tuned && over(ps, tuned.s, key);
    text += ` <span class="under">${counted(runs)}.</span>`;
    if (came && (came.settled || changing)) text += ` Tuned (${escape(tuned.parameters)}), <b>${escape(best.name)}</b> comes to ${ratio(came)}× (${interval(came)}).`;
    return text;
  };

  // What a picture shows, as CSV behind the link below it; nothing without rows.
  const offer = (of, rows) => {
    const link = $(`atlas-${of}-csv`), field = (text) => (/[",\n]/.test(text) ? `"${String(text).replace(/"/g, '""')}"` : text);
    link.parentElement.hidden = rows.length < 2;
    link.href = `data:text/csv;charset=utf-8,${encodeURIComponent(rows.map((row) => row.map(field).join(",")).join("\n"))}%0A`;
  };

  // --- The map.
  // Levels of the load in few words; the whole name is the title of the column.
  const short = (name) => name.replace(/^burst-(small|large)-(\d+)(\w+)$/, "$1 bursts, $2\u00a0$3").replace(/^open-(\d+)$/, "open $1\u00a0%").replace(/^closed$/, "closed loop").replace(/^think$/, "think time");
  const columns = (ps) => {
    if (state.columns === "condition") return ps.map((p) => ({ name: String(drive().places.indexOf(p) + 1), title: p.at.map((l, i) => level(FACTORS[i], l)).join(", "), ps: [p] }));
    const f = FACTORS.indexOf(state.columns);
    const all = A.levels[state.columns].map((l) => ({ name: l, title: level(state.columns, l), ps: ps.filter((p) => p.at[f] === l) }));
    return [{ name: "all", title: "all of them", ps }, ...all.filter((c) => c.ps.length)];
  };
  const shade = (key, o) => {
    if (!o) return "";
    if (o.chance || !o.settled) return "background: var(--faint); color: var(--soft)";
    const part = Math.min(1, Math.abs(o.log) / 2);
    return `background: color-mix(in oklab, var(${better(key, o) ? "--gain" : "--loss"}) ${Math.round(12 + 68 * part)}%, var(--card))`;
  };
  const heading = (name, tuned) =>
    tuned ? `<th scope="row" style="padding-left: 28px; font-weight: 400; color: var(--soft)" title="${escape(tuned.parameters)}" aria-label="${escape(name)}">tuned</th>`
      : `<th scope="row">${escape(name)}</th>`;
  const map = (ps) => {
    const d = drive(), key = state.measure, cols = columns(ps);
    const ranked = new Map(rank(ps, key).map((k, i) => [k.name, i]));
    const order = schemes(d).sort((a, b) => (ranked.get(a[0]) ?? 99) - (ranked.get(b[0]) ?? 99));
    const head = cols.map((c) => `<th scope="col" data-level="${escape(c.name)}" title="${escape(c.title)}"><span>${escape(short(c.name))}</span></th>`).join("");
    const listed = order.flatMap(([name, s]) => { const t = tunedOf(d, name); return t ? [[name, s], [t.name, t.s, t]] : [[name, s]]; });
    const shown = [["scheme", state.columns, `${key}_times_plain`, "low_95", "high_95", "steady_runs", "runs"]];
    const rows = listed.map(([name, s, tuned]) => {
      const cells = cols.map((c, i) => {
        const o = over(c.ps, s, key);
        if (!o) {
          const why = c.ps.map((p) => p.cells[s]).find((x) => typeof x === "number");
          const open = measured(c.ps, s, key);
          const said = why !== undefined ? d.reasons[why] : open ? `not known: ${counted(together(open.rests))}` : "no such requests";
          return `<td class="none" title="${escape(said)}">–</td>`;
        }
        const all = together(o.rests);
        shown.push([name, c.name, 2 ** o.log, ...(Number.isFinite(o.half) ? [2 ** (o.log - o.half), 2 ** (o.log + o.half)] : ["", ""]), all.steady, all.runs]);
        const said = (o.few ? `fewer than ${A.fewest_p999} requests` : `${interval(o)}, ${conditions(o.count)}`) + `, ${counted(together(o.rests))}`;
        const open = o.settled ? "" : " open";
        const on = picked && picked.s === s && picked.name === c.name ? " on" : "";
        return `<td style="${shade(key, o)}"><button type="button" class="cell${on}${open}" data-s="${s}" data-c="${i}" title="${escape(said)}">${ratio(o)}</button></td>`;
      });
      return `<tr${name === d.baseline ? ' class="baseline"' : ""}>${heading(name, tuned)}${cells.join("")}</tr>`;
    });
    $("atlas-map").innerHTML = `<thead><tr><th scope="col">scheme</th>${head}</tr></thead><tbody>${rows.join("")}</tbody>`;
    offer("map", shown);
    for (const b of $("atlas-map").querySelectorAll("button")) {
      b.addEventListener("click", () => { const c = cols[b.dataset.c]; picked = { s: Number(b.dataset.s), name: c.name, title: c.title, ps: c.ps }; map(ps); detail(); });
    }
    return cols;
  };

  // --- One cell: every measure, what explains it, how to run it again.
  const quoted = (text) => (/^[\w:=.,+/%@-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
  const command = (p, s) => {
    const d = drive(), [name, device, spelling] = d.spelled[s];
    const [, baseDevice, baseSpelling] = d.schemes.find((x) => x[0] === d.baseline);
    const c = p.cells[s], fixed = typeof c !== "number" && c[3];
    const said = (device, settings, names) =>
      `wordline ${names.length > 1 ? "compare" : "run"} --device ${device} --workload ${quoted(p.workload)}` +
      (A.fit ? ` --fit ${A.fit}` : "") + ` --requests ${p.asked || A.requests[p.at[1]]}` + names.map((n) => ` --scheme ${quoted(n)}`).join("") +
      ` --initial ${quoted(p.initial)}` + settings.map(([k, v]) => ` --set ${k}=${quoted(v)}`).join("") + ` --replicas ${A.seeds}`;
    const own = (p.set[device] || []).filter(([k]) => !fixed || !k.startsWith("slc_cache"));
    if (name === d.baseline) return said(device, own, [spelling]);
    if (device === baseDevice && !fixed) return said(device, own, [baseSpelling, spelling]);
    return said(baseDevice, p.set[baseDevice] || [], [baseSpelling]) + "\n" + said(device, own, [spelling]);
  };
  // Causes of programs and parts of a latency in the order of other pages, with their names there.
  const PARTS = [
    ["host", "host"], ["gc", "GC"], ["migration", "migration"], ["reprogram", "reprogram"], ["pad", "padding"],
    ["metadata", "mapping table"], ["parity", "parity"], ["admission", "waiting for queue or buffer"],
    ["map_miss", "mapping table miss"], ["staging", "staging in RAM"], ["behind_host", "waiting for host I/O"],
    ["behind_gc", "waiting for GC"], ["behind_migration", "waiting for migration"], ["space", "waiting for free space"],
    ["die", "array"], ["retry", "read retries"], ["bus", "channel bus"], ["link", "host link"],
  ];
  const part = (key) => (PARTS.find(([k]) => k === key) || [key, key.replace(/_/g, " ")])[1];
  const bars = (p, s, kind, title, unit) => {
    const d = drive(), base = d.schemes.findIndex((x) => x[0] === d.baseline);
    const of = (i) => (typeof p.cells[i] === "number" ? {} : p.cells[i][4][kind] || {});
    const place = (key) => { const at = PARTS.findIndex(([k]) => k === key); return at < 0 ? PARTS.length : at; };
    const names = [...new Set([...Object.keys(of(base)), ...Object.keys(of(s))])].sort((a, b) => place(a) - place(b));
    if (!names.length) return "";
    const sum = (o) => Object.values(o).reduce((a, b) => a + b, 0);
    const most = Math.max(sum(of(base)), sum(of(s)), 1e-12);
    const bar = (i, who) => {
      const pieces = names.map((n, k) => [n, of(i)[n] || 0, k]).filter(([, v]) => v > 0)
        .map(([n, v, k]) => `<span class="piece k-${escape(n)}" style="width:${(100 * v) / most}%" title="${escape(part(n))}: ${amount(v, unit)}"></span>`);
      return `<div class="bar-row"><span>${escape(who)}</span><div class="stack">${pieces.join("")}</div><span>${amount(sum(of(i)), unit)}</span></div>`;
    };
    const key = names.map((n, k) => `<span><span class="swatch k-${escape(n)}"></span>${escape(part(n))}</span>`).join(" ");
    return `<h4>${title}</h4>${bar(base, d.baseline)}${s === base ? "" : bar(s, d.spelled[s][0])}<p class="key">${key}</p>`;
  };
  const detail = () => {
    const box = $("atlas-cell");
    if (!picked) { box.innerHTML = '<p class="caption">Choose a cell of the map to see all its measures, what explains them, and the command that reproduces it.</p>'; return; }
    const d = drive(), { s, ps } = picked, known = ps.filter((p) => typeof p.cells[s] !== "number");
    const rows = A.measures.map((m, i) => {
      const o = measured(known, s, m.key);
      if (!o) return "";
      if (!over(known, s, m.key)) return `<tr><th scope="row">${m.label}</th><td class="number" colspan="4">not known: ${counted(together(o.rests))}</td></tr>`;
      const base = known.filter((p) => p.base[i] !== null && logs(p, s, i));
      const plain = 2 ** (base.reduce((a, p) => a + Math.log2(p.base[i]), 0) / base.length);
      return `<tr><th scope="row">${m.label}</th><td class="number" style="${shade(m.key, o)}">${ratio(o)}×</td><td class="number">${o.few ? "few" : interval(o)}</td><td class="number">${amount(plain * 2 ** o.log, m.unit)}</td><td class="number">${amount(plain, m.unit)}</td></tr>`;
    });
    const failed = known.reduce((a, p) => a + p.cells[s][2], 0);
    const fixed = known.filter((p) => p.cells[s][3]).length;
    const notes = [counted(steady(known, s)), `plain drive: ${counted(steady(known, baseline()))}`, failed ? `${failed} requests failed` : "no request failed"];
    if (fixed) notes.push(`its SLC cache stayed static in ${conditions(fixed)}`);
    const of = ps.length === 1 ? ps[0].at.map((l, i) => level(FACTORS[i], l)).join(", ") : `${picked.title}, ${conditions(known.length)}`;
    const first = known.reduce((a, p) => (a && a.requests[1] >= p.requests[1] ? a : p), null);
    const tuned = d.tuned.find((t) => t.s === s), own = tuned && between(known, s, d.schemes.findIndex((x) => x[0] === tuned.of), tuned.measure);
    if (own) notes.unshift(`${tuned.parameters}: ${measure(tuned.measure).label} ${ratio(own)}× that with the published parameters (${interval(own)})`);
    box.innerHTML = `<h3>${escape(d.spelled[s][0])} <span class="under">${escape(of)}</span></h3><p class="caption">${notes.map(escape).join(" · ")}</p>` +
      `<div class="cell-grid"><div class="scroll"><table class="atlas-measures"><thead><tr><th>measure</th><th class="number">× plain</th><th class="number">95 % interval</th><th class="number">here</th><th class="number">plain drive</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>` +
      `<div>${bars(first, s, "write", "Mean write latency, by what it waited for", "us")}${bars(first, s, "read", "Mean read latency, by what it waited for", "us")}${bars(first, s, "programs", "Programs for each page that the host wrote", "")}` +
      (ps.length > 1 ? `<p class="caption">Of the condition ${escape(first.at.map((l, i) => level(FACTORS[i], l)).join(", "))}.</p>` : "") + "</div></div>" +
      `<div class="code command"><button type="button" id="atlas-copy">copy</button><pre>${escape(command(first, s))}</pre></div>`;
    $("atlas-copy").addEventListener("click", () => navigator.clipboard?.writeText(command(first, s)));
  };

  // --- The frontier of cost against gain.
  const el = (name, attributes, parent, text) => {
    const e = document.createElementNS(SVG, name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text !== undefined) e.textContent = text;
    parent.append(e);
    return e;
  };
  const ticks = (from, to) => {
    // Round ratios: few of a wide range, more of a narrow one.
    const round = (factors) => {
      const all = [];
      for (let e = Math.floor(from / Math.log2(10)); e <= Math.ceil(to / Math.log2(10)); e++) for (const f of factors) { const l = Math.log2(f * 10 ** e); if (l >= from && l <= to) all.push(l); }
      return all;
    };
    const steps = (n) => Array.from({ length: 9 * n }, (_, i) => 1 + i / n);
    const found = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], steps(1), steps(2), steps(5), steps(10)].map(round);
    return found.find((all) => all.length > 3) || found.at(-1);
  };
  const frontier = (ps) => {
    const box = $("atlas-frontier"), d = drive(), gain = state.measure, cost = state.cost;
    box.replaceChildren();
    const found = schemes(d).map(([name, s]) => ({ name, s, y: over(ps, s, gain), x: over(ps, s, cost) })).filter((p) => p.x && p.y && p.x.settled && p.y.settled);
    const left = schemes(d).length - found.length;
    const without = left ? ` ${left} of ${schemes(d).length} schemes are left out: their runs are not steady, or have no such figure.` : "";
    offer("frontier", []);
    if (found.length < 2) { $("atlas-frontier-list").textContent = `${A.finite ? "Not known." : "Not known: run longer."}${without}`; return; }
    for (const p of found) p.best = !found.some((o) => o !== p && sign(gain) * (o.y.log - p.y.log) <= 0 && sign(cost) * (o.x.log - p.x.log) <= 0 && (o.y.log !== p.y.log || o.x.log !== p.x.log));
    offer("frontier", [["scheme", `${gain}_times_plain`, `${cost}_times_plain`, "pareto_optimal"], ...found.map((p) => [p.name, 2 ** p.y.log, 2 ** p.x.log, p.best])]);
    // Of a tuned scheme where it goes to from where it stands.
    const moved = found.flatMap((p) => { const t = tunedOf(d, p.name), y = t && over(ps, t.s, gain), x = t && over(ps, t.s, cost); return x && y && x.settled && y.settled ? [{ name: t.name, x, y, from: p }] : []; });
    // As wide as a telephone, so that no text shrinks below 11 px.
    const W = 350, H = 300, [R, Tp, B] = [16, 14, 46];
    const range = (k) => { const v = [...found, ...moved].map((p) => p[k].log); const [a, b] = [Math.min(...v), Math.max(...v)]; const pad = Math.max((b - a) * 0.09, 0.03); return [a - pad, b + pad]; };
    const [x0, x1] = range("x"), [y0, y1] = range("y");
    // Room for the longest text beside the scale, behind the axis' own.
    const L = Math.max(52, 30 + 7 * Math.max(0, ...ticks(y0, y1).map((t) => digits(2 ** t).length)));
    const X = (v) => L + ((v - x0) / (x1 - x0)) * (W - L - R), Y = (v) => H - B - ((v - y0) / (y1 - y0)) * (H - Tp - B);
    const svg = el("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${measure(gain).label} against ${measure(cost).label}`, "font-size": 12 }, box);
    let right = -Infinity;
    for (const t of ticks(x0, x1)) {
      el("line", { class: "grid", x1: X(t), x2: X(t), y1: Tp, y2: H - B }, svg);
      // A text that would lie on the one before it, or beyond the edge, is left out.
      const half = 3.6 * digits(2 ** t).length;
      if (X(t) - half < right + 6 || X(t) + half > W) continue;
      right = X(t) + half;
      el("text", { class: "tick", x: X(t), y: H - B + 16, "text-anchor": "middle" }, svg, digits(2 ** t));
    }
    let above = Infinity;
    for (const t of ticks(y0, y1)) {
      el("line", { class: "grid", x1: L, x2: W - R, y1: Y(t), y2: Y(t) }, svg);
      if (Y(t) > above - 14) continue;
      above = Y(t);
      el("text", { class: "tick", x: L - 6, y: Y(t) + 4, "text-anchor": "end" }, svg, digits(2 ** t));
    }
    const front = found.filter((p) => p.best).sort((a, b) => a.x.log - b.x.log);
    el("polyline", { points: front.map((p) => `${X(p.x.log)},${Y(p.y.log)}`).join(" "), fill: "none", stroke: "var(--s1)", "stroke-width": 1.5, opacity: 0.6 }, svg);
    for (const p of moved) {
      el("line", { x1: X(p.from.x.log), y1: Y(p.from.y.log), x2: X(p.x.log), y2: Y(p.y.log), stroke: "var(--soft)", "stroke-dasharray": "2 2" }, svg);
      const c = el("circle", { cx: X(p.x.log), cy: Y(p.y.log), r: 3.5, style: "pointer-events: all; fill: var(--card); stroke: var(--soft)" }, svg);
      el("title", {}, c, `${p.name}: ${measure(gain).label} ${ratio(p.y)}×, ${measure(cost).label} ${ratio(p.x)}×`);
    }
    const under = (p) => (p.best ? 2 : p.name === d.baseline ? 1 : 0);
    for (const p of [...found].sort((a, b) => under(a) - under(b))) {
      const plain = p.name === d.baseline;
      const c = el("circle", { cx: X(p.x.log), cy: Y(p.y.log), r: p.best || plain ? 5 : 3.5, style: `pointer-events: all; fill: ${plain ? "var(--s0)" : p.best ? "var(--s1)" : "var(--other)"}; opacity: ${p.best || plain ? 1 : 0.8}` }, svg);
      el("title", {}, c, `${p.name}: ${measure(gain).label} ${ratio(p.y)}×, ${measure(cost).label} ${ratio(p.x)}×`);
    }
    // Names of the frontier, each where no other stands, that with the largest gain first.
    front.sort((a, b) => sign(gain) * (a.y.log - b.y.log));
    const [fastest] = front;
    const taken = [...found, ...moved].map((p) => [X(p.x.log) - 5, Y(p.y.log) - 5, X(p.x.log) + 5, Y(p.y.log) + 5]);
    for (const p of [...front, ...found.filter((q) => q.name === d.baseline && !q.best)]) {
      const w = p.name.length * 6.4 + 4, [x, y] = [X(p.x.log), Y(p.y.log)];
      const spots = [[x + 8, y - 12], [x - 8 - w, y - 12], [x + 8, y + 2], [x - 8 - w, y + 2], [x - w / 2, y - 22], [x - w / 2, y + 10], [x + 12, y - 26], [x - 12 - w, y + 14]];
      const inside = spots.filter(([a, b]) => a > L && a + w < W - 2 && b > 0 && b + 13 < H - B);
      const covers = ([a, b]) => taken.filter(([c, e, f, g]) => a < f && a + w > c && b < g && b + 13 > e).length;
      // The baseline's name and the best one's stand in any case.
      const must = p.name === d.baseline || p === fastest;
      const spot = inside.find((at) => !covers(at)) || (must && inside.sort((one, other) => covers(one) - covers(other))[0]);
      if (!spot) continue;
      taken.push([spot[0], spot[1], spot[0] + w, spot[1] + 13]);
      el("text", { class: "name", x: spot[0] + 2, y: spot[1] + 11 }, svg, p.name);
    }
    el("text", { x: (L + W - R) / 2, y: H - 6, "text-anchor": "middle", class: "note" }, svg, `${measure(cost).label} × plain drive (${measure(cost).more ? "right" : "left"} is better)`);
    el("text", { x: 0, y: 0, transform: `translate(12 ${(Tp + H - B) / 2}) rotate(-90)`, "text-anchor": "middle", class: "note" }, svg, `${measure(gain).label} (${measure(gain).more ? "up" : "down"} is better)`);
    $("atlas-frontier-list").textContent = `${moved.length ? "Hollow points are tuned schemes. " : ""}Pareto-optimal (no other scheme is better in both): ${front.map((p) => p.name).join(", ")}.${without}`;
  };

  const show = () => {
    const ps = places(drive());
    grey();
    $("atlas-answer").innerHTML = sentence(ps);
    for (const b of $("atlas-answer").querySelectorAll("button.nearest")) {
      b.addEventListener("click", () => {
        for (const [f, l] of JSON.parse(b.dataset.set)) $(`atlas-${f}`).value = state[f] = l;
        picked = null;
        show();
      });
    }
    map(ps);
    detail();
    frontier(ps);
    const said = Object.entries(state).filter(([, v]) => v !== "any");
    // An address that leads to a section stays until a choice is made.
    if (shown || !location.hash || location.hash.includes("=")) history.replaceState(null, "", "#" + new URLSearchParams(said));
    shown = true;
  };
  let shown = false;
  show();
})();
