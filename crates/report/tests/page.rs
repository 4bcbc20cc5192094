mod sample;
use wordline_report::{figures, html};

#[test]
fn show() {
    for (name, c) in sample::all() {
        let page = html(&c);
        eprintln!("{name}: {} bytes; {}", page.len(), c.verdict());
        std::fs::write(format!("/tmp/wl-{}.html", name.replace(' ', "-")), page).unwrap();
    }
    for f in figures(&sample::four()) {
        std::fs::write(format!("/tmp/wl-fig-{}.svg", f.name), f.svg).unwrap();
    }
}
