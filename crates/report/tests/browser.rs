//! The page in a real browser, where there is one: are there errors on its console, are the
//! pictures there, and does the script read them?
#![allow(clippy::unwrap_used)] // a test may fail by panic, its helpers too

mod sample;
use std::path::PathBuf;
use std::process::Command;
use wordline_report::{figures, html};

fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).flat_map(|dir| names.map(|n| dir.join(n))).find(|p| p.is_file())
}

/// Loads a page in a window of some width; returns its elements after scripts ran, and what the browser logged.
fn load(browser: &PathBuf, name: &str, width: u32, page: &str) -> (String, String) {
    let dir = std::env::temp_dir().join(format!("wordline-report-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("report.html");
    std::fs::write(&file, page).unwrap();
    let out = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&dir);
    (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// Moves through every picture by keyboard and writes what the crosshair says at the end.
const WALK: &str = r##"<script>
for (const plot of document.querySelectorAll(".plot"))
  for (let i = 0; i < 7; i++) plot.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
for (const get of document.querySelectorAll("button")) get.addEventListener("click", (e) => e.preventDefault());
const said = [...document.querySelectorAll(".tip")].map((t) => t.hidden ? "HIDDEN" : t.innerText.replace(/\s+/g, " "));
document.body.insertAdjacentHTML("beforeend", "<ol id=walk></ol>");
const scrub = document.querySelector(".scrub input");
const say = (id, text) => { const p = document.createElement("p"); p.id = id; p.textContent = text; document.body.append(p); };
if (scrub) {
  const drawn = () => [...document.querySelectorAll("g.map")].map((g) => g.innerHTML).join("");
  const seen = [drawn()], said = [];
  for (const to of [0, 7, scrub.max]) {
    scrub.value = to;
    scrub.dispatchEvent(new Event("input"));
    seen.push(drawn());
    said.push(document.querySelector(".scrub output").textContent);
  }
  for (const by of ["state", "region"]) {
    const choice = document.querySelector(".scrub select");
    choice.value = by;
    choice.dispatchEvent(new Event("change"));
    seen.push(drawn());
    said.push(document.querySelector(".scrub .key").textContent);
  }
  say("scrubbed", said.join(" / "));
  say("differ", String(new Set(seen).size));
  const begin = performance.now();
  for (let i = 0; i < 50; i++) { scrub.value = i % (Number(scrub.max) + 1); scrub.dispatchEvent(new Event("input")); }
  say("ms", String((performance.now() - begin) / 50));
}
document.querySelector('a[href="#not-modelled"]')?.click();
say("unfolded", String(document.querySelector("#not-modelled details")?.open));
say("sideways", String(document.documentElement.scrollWidth - document.documentElement.clientWidth));
for (const s of said) { const li = document.createElement("li"); li.textContent = s; document.getElementById("walk").append(li); }
</script></body>"##;

#[test]
fn the_page_runs_without_errors_and_its_pictures_can_be_read() {
    let Some(browser) = chromium() else {
        eprintln!("skipped: no chromium on PATH");
        return;
    };
    for (name, width, comparison) in [
        ("four", 1200, sample::four()),
        ("narrow", 500, sample::four()),
        ("hostile", 1200, sample::hostile()),
        ("empty", 1200, sample::empty()),
    ] {
        let page = html(&comparison).replace("</body>", WALK);
        let (dom, log) = load(&browser, name, width, &page);
        let console: Vec<&str> = log.lines().filter(|l| l.contains("CONSOLE")).collect();
        assert!(console.is_empty(), "{name}: {console:#?}");
        assert!(dom.contains("class=\"scripted\""), "{name}: the script did not run:\n{log}");
        let figures = figures(&comparison);
        for f in &figures {
            assert!(dom.contains(&format!("<figure id=\"{}\">", f.name)), "{name}: {}", f.name);
        }
        let walk = dom.split("<ol id=\"walk\">").nth(1).unwrap().split("</ol>").next().unwrap();
        assert_eq!(walk.matches("<li>").count(), figures.len(), "{name}: a crosshair for each");
        for bad in ["HIDDEN", "NaN", "Infinity", "undefined"] {
            assert!(!walk.contains(bad), "{name}: {walk}");
        }
        let text = |id: &str| -> String {
            let found = dom.split(&format!("<p id=\"{id}\">")).nth(1);
            found.map_or(String::new(), |rest| rest.split("</p>").next().unwrap().to_string())
        };
        assert_eq!(text("unfolded"), "true", "{name}");
        assert_eq!(text("sideways"), "0", "{name}: the page is wider than its window");
        if name == "four" {
            // The beginning, the middle and the end, then by state and by region.
            assert_eq!(text("differ"), "5", "{}", text("scrubbed"));
            let scrubbed = text("scrubbed");
            for word in ["0 s / ", "1.78", "full", "being emptied", "region cache", "region dense"] {
                assert!(scrubbed.contains(word), "{word} is not in {scrubbed}");
            }
            println!("a step of the map takes the browser {} ms", text("ms"));
            assert!(walk.contains("p99.5") && walk.contains("hierarchy"), "{walk}");
        }
    }
}
