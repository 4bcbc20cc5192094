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

/// Loads a page; returns its elements after scripts ran, and what the browser logged.
fn load(browser: &PathBuf, name: &str, page: &str) -> (String, String) {
    let dir = std::env::temp_dir().join(format!("wordline-report-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("report.html");
    std::fs::write(&file, page).unwrap();
    let out = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&dir);
    (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// Moves through every picture by keyboard and writes what the crosshair says at the end.
const WALK: &str = r#"<script>
for (const plot of document.querySelectorAll(".plot"))
  for (let i = 0; i < 7; i++) plot.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
for (const get of document.querySelectorAll("button")) get.addEventListener("click", (e) => e.preventDefault());
const said = [...document.querySelectorAll(".tip")].map((t) => t.hidden ? "HIDDEN" : t.innerText.replace(/\s+/g, " "));
document.body.insertAdjacentHTML("beforeend", "<ol id=walk></ol>");
for (const s of said) { const li = document.createElement("li"); li.textContent = s; document.getElementById("walk").append(li); }
</script></body>"#;

#[test]
fn the_page_runs_without_errors_and_its_pictures_can_be_read() {
    let Some(browser) = chromium() else {
        eprintln!("skipped: no chromium on PATH");
        return;
    };
    for (name, comparison) in
        [("four", sample::four()), ("hostile", sample::hostile()), ("empty", sample::empty())]
    {
        let page = html(&comparison).replace("</body>", WALK);
        let (dom, log) = load(&browser, name, &page);
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
        if name == "four" {
            assert!(walk.contains("p99.5") && walk.contains("hierarchy"), "{walk}");
        }
    }
}
