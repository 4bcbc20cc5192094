//! A scheme that cannot decide says why, in whichever hook it is: the run ends with its words, and nothing is done of what
//! it would have decided.

use crate::support::one_die;
use wordline_ftl::{
    Collect, Command, DriveInfo, Fault, IdleWork, Layout, Move, Need, Parcel, Place, ReadSeen, Refusal,
    Scheme, Span, Tag, View,
};
use wordline_sim::{Device, DeviceError, NoProbe};
use wordline_units::{HostOp, HostRequest, PlaneId, SectorMask, SimTime};

/// `conventional`, which fails when it is asked by one hook for the last time of so many.
#[derive(Clone, Debug)]
struct Failing {
    inner: Box<dyn Scheme>,
    hook: &'static str,
    left: u32,
}

impl Failing {
    fn tried<T>(&mut self, hook: &str, answer: T) -> Result<T, std::num::ParseIntError> {
        self.left -= u32::from(hook == self.hook);
        if self.left == 0 {
            "none".parse::<u32>()?;
        }
        Ok(answer)
    }
}

#[wordline_ftl::hooks]
impl Scheme for Failing {
    fn name(&self) -> &str {
        "failing"
    }
    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let hooks = wordline_ftl::Hooks::ALL;
        let hooks =
            if self.hook == "split_write" { hooks } else { hooks.without(wordline_ftl::Hooks::SPLIT_WRITE) };
        Ok(Layout { enabled_hooks: hooks, tick_every_writes: 1, ..self.inner.layout(drive)? })
    }
    fn place(&mut self, parcel: &Parcel, view: &View) -> Place {
        let place = self.inner.place(parcel, view);
        view.answer(self.tried("place", place))
    }
    fn admit(&mut self, _: &HostRequest, view: &View) -> Tag {
        view.answer(self.tried("admit", Tag(0)))
    }
    fn make_room(&mut self, _: &Parcel, view: &View, _: &mut Vec<Move>) {
        view.answer(self.tried("make_room", ()));
    }
    fn split_write(&mut self, span: &Span, view: &View) -> SectorMask {
        view.answer(self.tried("split_write", span.mask))
    }
    fn read(&mut self, _: &ReadSeen, view: &View) -> Option<Move> {
        view.answer(self.tried("read", None))
    }
    fn collect(&mut self, _: Need, view: &View) -> Option<Collect> {
        view.answer(self.tried("collect", None))
    }
    fn idle(&mut self, _: PlaneId, view: &View) -> Option<IdleWork> {
        view.answer(self.tried("idle", None))
    }
    fn tick(&mut self, view: &View, _: &mut Vec<Command>) {
        view.answer(self.tried("tick", ()));
    }
}

/// Write and read until the scheme fails, and return the fault with the pages that were programmed and collected.
fn failed(hook: &'static str, times: u32) -> (Fault, u64, u64) {
    let spec = one_die::spec(&[]);
    let inner = wordline_schemes::build("conventional:mode=tlc").unwrap();
    let scheme = Box::new(Failing { inner, hook, left: times });
    let mut d: Device<NoProbe> = Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    let pages = spec.logical_bytes() / spec.unit.0;
    let asked = |i: u64| {
        let op = if i % 5 == 4 { HostOp::Read } else { HostOp::Write };
        HostRequest::new(op, i * 7919 % pages * 32, 32)
    };
    let ended = (0..4 * pages).find_map(|i| {
        let now = d.now();
        d.submit(asked(i).at(now), now)
            .map(drop)
            .and_then(|()| d.next_completion(SimTime::NEVER).map(drop))
            .err()
    });
    let Some(DeviceError::Fault(fault)) = ended.or_else(|| d.drain().err()) else {
        panic!("{hook}: no fault")
    };
    let counters = d.ftl().counters();
    (fault, counters.regions[0].ops.program_operations, counters.collected_units)
}

#[test]
fn undecided_hook_ends_the_run_with_its_words() {
    for hook in ["admit", "place", "make_room", "split_write", "read", "collect", "idle", "tick"] {
        let (fault, programs, collected) = failed(hook, 3);
        let text = fault.to_string();
        let Fault::Undecided { scheme, hook: by, reason, .. } = fault else { panic!("{hook}: {text}") };
        assert_eq!(
            (scheme.as_str(), by, reason.as_str()),
            ("failing", hook, "invalid digit found in string")
        );
        assert!(
            text.contains(&format!("{hook}() failed at t = "))
                && text.ends_with(": invalid digit found in string"),
            "{text}"
        );
        if ["admit", "place", "make_room", "split_write"].contains(&hook) {
            assert_eq!(programs, 2, "{hook}: what was asked of for the third time is not programmed");
        }
        assert!(hook != "collect" || collected == 0 || programs > 0);
    }
}
