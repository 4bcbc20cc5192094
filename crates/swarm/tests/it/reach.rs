//! What the cases reach: every scheme, every parameter, every kind of drive; and how many drives are drawn in vain.

use crate::swarm::swarm;
use std::fs;
use std::path::{Path, PathBuf};
use wordline_device::{
    Ack, Allocation, ArbitrationOrder, HostQueue, Multiplane, MultiplanePages, Packing, Parity, ServiceOrder,
};
use wordline_schemes::Registry;
use wordline_swarm::{Case, stress};
use wordline_units::{DieId, Fraction, QueueClass};

/// Cases that are drawn, not run.
struct Cases(Vec<Case>);

impl Cases {
    fn reach(&self, what: &str, is: impl Fn(&Case) -> bool) {
        let cases = self.0.iter().filter(|c| is(c)).count();
        assert!(cases >= 5, "hardly a case has {what}");
    }
}

#[test]
fn cases_reach_every_scheme_and_kind_of_drive() {
    let swarm = swarm();
    let cases = Cases((1..=8000).map(|seed| swarm.draw(seed, 0).unwrap()).collect());
    every_scheme_with_every_parameter(&cases);
    println!("{}", few_drives_are_drawn_in_vain(&cases));
    every_kind_of_drive(&cases);
    every_order_of_service_and_every_use_of_ram(&cases);
    every_order_of_queues(&cases);
    every_error_and_every_kind_of_wear(&cases);
}

/// The parts of a spelling that are schemes, each with its parameters.
fn layers(case: &Case) -> Vec<String> {
    let registry = stress::over(&Registry::standard()).unwrap();
    let layers = registry.layers(&case.drive.scheme.spelling).unwrap();
    layers.into_iter().map(|(_, part)| part.to_string()).collect()
}

fn every_scheme_with_every_parameter(cases: &Cases) {
    let layers: Vec<Vec<String>> = cases.0.iter().map(layers).collect();
    let reached = |what: String, is: &dyn Fn(&[String]) -> bool| {
        assert!(layers.iter().filter(|l| is(l)).count() >= 5, "hardly a case has {what}");
    };
    for entry in stress::over(&Registry::standard()).unwrap().all() {
        let own = format!("{}:", entry.name);
        reached(entry.name.to_string(), &|l| l.len() == 1 && (l[0] == entry.name || l[0].starts_with(&own)));
        for p in &entry.parameters {
            let key = format!("{}=", p.key);
            reached(format!("{own}{key}"), &|l| {
                l.len() == 1 && l[0].starts_with(&own) && l[0].contains(&key)
            });
        }
        for small in entry.small.iter().filter(|s| !s.is_empty()) {
            let spelling = format!("{own}{small}");
            reached(spelling.clone(), &|l| l.contains(&spelling));
        }
    }
    reached("a scheme over another".into(), &|l| l.len() == 2);
}

/// What a scheme wishes of a drive is found by asking it, so some drives are drawn in vain: most of them for one scheme over
/// another, since few go together. Returns how many.
fn few_drives_are_drawn_in_vain(cases: &Cases) -> String {
    let mut kinds = [("small", vec![]), ("any", vec![]), ("one scheme over another", vec![])];
    for case in &cases.0 {
        let is_stacked = layers(case).len() == 2;
        let kind = if is_stacked { 2 } else { usize::from(case.drive.spec.name != "tiny") };
        kinds[kind].1.push(case.refused);
    }
    let mut told = vec![];
    for ((kind, refused), most) in kinds.into_iter().zip([2, 8, 25]) {
        let (all, cases) = (refused.iter().sum::<u32>(), refused.len() as u32);
        told.push(format!("{kind}: {all} drives were refused in {cases} cases"));
        assert!(all < most * cases, "{}", told.join("\n"));
    }
    told.join("\n")
}

fn every_kind_of_drive(cases: &Cases) {
    cases.reach("superblocks", |c| c.drive.spec.superblock.planes(c.drive.geometry.media[0].topology) > 1);
    cases.reach("superblocks with parity", |c| c.drive.spec.parity != Parity::Off);
    cases.reach("two media", |c| c.drive.geometry.media.len() == 2);
    cases.reach("several units a page", |c| c.drive.geometry.units_per_page(0) > 1);
    cases.reach("pages that writes share", |c| c.drive.spec.packing == Packing::Page);
    cases.reach("a buffer", |c| c.drive.spec.ack != Ack::Program);
    cases.reach("dynamic allocation", |c| c.drive.spec.allocation == Allocation::Dynamic);
    cases.reach("planes in turn", |c| c.drive.spec.allocation == Allocation::RoundRobin);
    cases.reach("copies apart", |c| {
        c.drive.layout.regions.len() > 1 && !c.drive.spec.gc.copies.are_together()
    });
    cases.reach("no padding in time", |c| c.drive.spec.pad_after.is_none());
    cases.reach("planes that may work together", |c| {
        c.drive.spec.multiplane == Multiplane::Opportunistic
            && c.drive.geometry.planes_of_die(DieId(0)).len() > 1
    });
    cases.reach("planes that work together on pages of one number alone", |c| {
        c.drive.spec.multiplane_pages == MultiplanePages::Same
            && c.drive.geometry.planes_of_die(DieId(0)).len() > 1
    });
    cases.reach("a buffer that keeps pages back", |c| c.drive.spec.flush.is_some_and(|f| f.idle.is_none()));
    cases.reach("a buffer that empties when the drive is idle", |c| {
        c.drive.spec.flush.is_some_and(|f| f.idle.is_some())
    });
    cases.reach("little space", |c| !c.drive.roomy);
    cases.reach("little space behind a buffer", |c| !c.drive.roomy && c.drive.spec.ack != Ack::Program);
    cases.reach("little space under a map of sectors", |c| !c.drive.roomy && !c.drive.by_page());
    cases.reach("data at time 0", |c| c.initial.mapped.count() > 0);
}

fn every_order_of_service_and_every_use_of_ram(cases: &Cases) {
    cases.reach("a read cache", |c| c.drive.spec.dram.read_cache.0 > 0);
    let map_pages = |c: &Case| {
        wordline_device::map_pages(c.drive.spec.logical_bytes() / c.drive.spec.unit.0, c.drive.spec.unit)
    };
    cases.reach("a map on flash, of which not all is in RAM", |c| {
        (1..map_pages(c) * c.drive.spec.unit.0).contains(&c.drive.spec.dram.map_cache.0)
    });
    cases.reach("a bound on the changes of a map on flash", |c| c.drive.spec.dram.map_journal.is_some());
    cases.reach("programs that reads interrupt", |c| c.drive.spec.service.suspension.is_some());
    cases.reach("programs of several planes that reads interrupt", |c| {
        let together = c.drive.spec.multiplane == Multiplane::Opportunistic;
        c.drive.spec.service.suspension.is_some()
            && together
            && c.drive.geometry.planes_of_die(DieId(0)).len() > 1
    });
    for order in [ServiceOrder::FirstCome, ServiceOrder::Shortest, ServiceOrder::Shares] {
        cases.reach("another order of service", |c| c.drive.spec.service.order == order);
    }
    cases.reach("a host link", |c| !c.drive.spec.host.rate.is_off());
}

fn every_order_of_queues(cases: &Cases) {
    for is_weighted in [false, true] {
        cases.reach("several queues of the host, in turn or by weights", |c| {
            c.drive.spec.arbitration.as_ref().is_some_and(|a| {
                a.queues.len() > 1 && matches!(a.order, ArbitrationOrder::Weighted(_)) == is_weighted
            })
        });
    }
    let of_queues = |c: &Case, is: &dyn Fn(&HostQueue) -> bool| {
        c.drive.spec.arbitration.as_ref().is_some_and(|a| a.queues.iter().any(is))
    };
    for (word, class) in QueueClass::WORDS {
        cases.reach(&format!("a queue of class {word}"), |c| of_queues(c, &|q| q.class == Some(class)));
    }
    cases.reach("a queue with a depth of its own", |c| of_queues(c, &|q| q.depth.is_some()));
    cases.reach("several queues before a drive that works on one request", |c| {
        of_queues(c, &|_| true) && c.drive.spec.host.queue_depth == 1
    });
    cases.reach("queues before a drive with little space", |c| of_queues(c, &|_| true) && !c.drive.roomy);
}

fn every_error_and_every_kind_of_wear(cases: &Cases) {
    let errors = |c: &Case| c.drive.spec.errors.clone();
    cases.reach("errors", |c| errors(c).is_some());
    cases.reach("no retransfer", |c| errors(c).is_some_and(|e| !e.retransfer));
    cases.reach("attempts brought out", |c| errors(c).is_some_and(|e| e.retransfer));
    let wear = |c: &Case| c.drive.spec.wear;
    cases.reach("lives that end", |c| wear(c).enforce);
    cases.reach("lives that differ", |c| wear(c).enforce && wear(c).spread > Fraction::ZERO);
    cases.reach("bad blocks", |c| wear(c).bad_blocks > Fraction::ZERO);
    cases.reach("dynamic wear levelling", |c| wear(c).dynamic);
    cases.reach("static wear levelling", |c| wear(c).static_beyond.is_some());
    cases.reach("aged blocks", |c| c.initial.aged_invalid.0 > 0);
}

/// Every file below a folder.
fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { files(&entry, into) } else { into.push(entry) }
    }
}

#[test]
fn the_swarm_names_no_scheme_of_the_literature() {
    let mut sources = vec![];
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut sources);
    for file in sources {
        let source = fs::read_to_string(&file).unwrap();
        for name in Registry::standard().names() {
            let named = ["\"", ":", "+"].iter().any(|end| source.contains(&format!("\"{name}{end}")));
            assert!(!named, "{} names {name}", file.display());
        }
    }
}
