import sys

from helpers import ROOT

sys.path.insert(0, str(ROOT / "tests"))
import walk

SOURCES = {
    "ftl.rs": """
pub struct Ftl<M> { planes: Vec<u32>, media: M }
impl<M: Media> Ftl<M> {
    // self.never_called() is no call.
    pub fn begin(&mut self, ends: [u8; 2]) -> bool {
        self.first(); self.planes.len(); Plan::new().draw(); self.first();
        helped("self.never_called()")
    }
    fn never_called(&self) {}
}
#[cfg(test)]
mod tests { fn first() {} }
""",
    "flow/a.rs": """
impl<M: Media> Ftl<M> {
    fn first(&mut self) { if self.second() { self.third() } }
    fn third(&self) {}
}
fn helped(_: &str) -> bool { true }
""",
    "flow/b.rs": """
impl<M> Ftl<M> where M: Media { fn second(&mut self) -> bool { self.begin([0, 0]) } }
""",
    "plan.rs": """
struct Plan;
impl Plan { fn new() -> Plan { Plan } fn draw(self) { self.len() } fn len(self) {} }
trait Draws { fn draw(&self) {} }
""",
}


def told(own):
    return [f"{s.file}:{s.name}" for s in walk.Crate(SOURCES).walk("begin", own=own)]


def test_ones_own_methods_are_visited_once_and_depth_first():
    assert told(own=True) == [
        "ftl.rs:begin",
        "flow/a.rs:first",
        "flow/b.rs:second",
        "flow/a.rs:third",
    ]
    assert walk.changes(walk.Crate(SOURCES).walk("begin", own=True)) == 3


def test_other_functions_are_followed_where_their_name_says_which():
    assert told(own=False)[4:] == ["plan.rs:new", "plan.rs:draw", "plan.rs:len", "flow/a.rs:helped"]


def test_the_crate_has_every_method_that_a_walk_starts_at():
    crate = walk.Crate(walk.sources(None, "crates/ftl/src"))
    for start in walk.STARTS:
        assert crate.has(start), start
    for start in walk.DISPATCHED:
        assert len(crate.walk(start, own=True)) > 10
