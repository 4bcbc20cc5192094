//! Overwrite, trim and read of a page while it is being filled, programmed or collected: every
//! interleaving at the resolution of the device's own events, against a plain model.

use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_ftl::{Bytes, Cause, Initial, Mapped, Outcome};
use wordline_sim::{Device, Event, Log};
use wordline_swarm::{QLC, Tiny};
use wordline_units::{HostOp, HostRequest, SimDuration, SimTime};

const SECTOR: usize = 512;

/// What may come in between, on the page under test (sectors 0 to 3).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Intruder {
    Overwrite,
    OverwriteFirst,
    OverwriteLast,
    Trim,
    Read,
    Flush,
}

const INTRUDERS: [Intruder; 6] = [
    Intruder::Flush,
    Intruder::OverwriteLast,
    Intruder::OverwriteFirst,
    Intruder::Overwrite,
    Intruder::Trim,
    Intruder::Read,
];

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scene {
    /// A full write of the page.
    Program,
    /// A partial write of the page, which reads the rest first.
    Fill,
    /// So many writes elsewhere in the plane that the block of the page is collected.
    Collection,
    /// The page has been read so often that it lies in SLC, and has cooled: idle time takes it back to QLC.
    Reclaim,
    /// Parts of all pages, sector by sector, so often that pages are gathered from several places.
    Gathering,
}

/// A drive and the scheme that it runs, read once for all of its stages.
struct Setting {
    scheme: &'static str,
    spec: DeviceSpec,
    geometry: Geometry,
}

impl Setting {
    fn new(scheme: &'static str) -> Setting {
        let one_shot = !scheme.contains("sequential") && !scheme.contains("slc-cache");
        let by_heat = scheme.contains("reclaim");
        let extra = if by_heat { QLC } else { "" };
        let packs = ["sa:", "sector:", "hierarchy:"].iter().any(|name| scheme.starts_with(name));
        let (blocks, spare) = if packs { (20, 12) } else { (12, 7) };
        let tiny = Tiny { blocks, wordlines: 2, spare, one_shot, extra, ..Tiny::default() };
        let spec = tiny.spec(if scheme.contains("mode=slc") { 1 } else { 3 + u32::from(by_heat) });
        let geometry = spec.geometry().unwrap();
        Setting { scheme, spec, geometry }
    }
}

struct Stage {
    device: Device<Log>,
    model: Vec<u64>,
    expected: Vec<(u64, Vec<u64>)>,
    stamp: u64,
    per_page: u64,
}

impl Stage {
    fn new(Setting { scheme, spec, geometry }: &Setting) -> Stage {
        let scheme = wordline_schemes::build(scheme).unwrap();
        let mut device = Device::over(spec, geometry, scheme, Log::default(), Bytes::default()).unwrap();
        let sectors = spec.logical_bytes() / SECTOR as u64;
        let pages = (sectors / 4) as u32;
        device.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(pages)), 5).unwrap();
        Stage { device, model: vec![0; sectors as usize], expected: vec![], stamp: 0, per_page: 4 }
    }

    fn write(&mut self, first: u64, last: u64, at: u64) {
        self.stamp += 1;
        self.model[first as usize..last as usize].fill(self.stamp);
        let data = self.stamp.to_le_bytes().repeat(SECTOR / 8 * (last - first) as usize);
        let r = HostRequest::new(HostOp::Write, first, (last - first) as u32).at(SimTime(at));
        self.device.submit_with(r, SimTime(at), &data).unwrap();
    }

    fn play(&mut self, scene: Scene) {
        match scene {
            Scene::Program => self.write(0, 4, 0),
            Scene::Fill => self.write(1, 3, 0),
            Scene::Gathering => {
                let pages = self.model.len() as u64 / self.per_page;
                for sector in (0..self.per_page).chain([1, 3]) {
                    for page in 0..pages {
                        let at = page * self.per_page + (sector + page) % self.per_page;
                        self.write(at, at + 1, 0);
                    }
                }
            }
            Scene::Collection => {
                let pages = self.model.len() as u64 / self.per_page;
                for i in 0..pages * 2 {
                    let page = 1 + i * 7 % (pages - 1);
                    self.write(page * 4, page * 4 + 4, 0);
                }
            }
            Scene::Reclaim => {
                // Two pages fill a block of SLC; four reads of others later the counts are halved.
                for (i, page) in [0, 0, 1, 1, 9, 8, 7, 6].into_iter().enumerate() {
                    let at = SimTime(i as u64 * 2_000_000);
                    self.device.submit(HostRequest::new(HostOp::Read, page * 4, 4).at(at), at).unwrap();
                }
            }
        }
    }

    fn intrude(&mut self, what: Intruder, at: u64) {
        let at = at.max(self.device.now().0);
        match what {
            Intruder::Overwrite => self.write(0, 4, at),
            Intruder::OverwriteFirst => self.write(0, 1, at),
            Intruder::OverwriteLast => self.write(2, 4, at),
            Intruder::Trim => {
                self.model[0..4].fill(0);
                self.device
                    .submit(HostRequest::new(HostOp::Trim, 0, 4).at(SimTime(at)), SimTime(at))
                    .unwrap();
            }
            Intruder::Read => {
                let r = HostRequest::new(HostOp::Read, 0, 4).at(SimTime(at));
                let number = self.device.submit(r, SimTime(at)).unwrap();
                self.expected.push((number, self.model[0..4].to_vec()));
            }
            Intruder::Flush => {
                self.device
                    .submit(HostRequest::new(HostOp::Flush, 0, 0).at(SimTime(at)), SimTime(at))
                    .unwrap();
            }
        }
    }

    fn finish(&mut self, what: &str) {
        let all = HostRequest::new(HostOp::Read, 0, self.model.len() as u32);
        let mut done = vec![];
        while let Some(c) = self.device.next_completion(SimTime::NEVER).unwrap() {
            done.push(c);
        }
        self.device.drain().unwrap();
        let number = self.device.submit(all, self.device.now()).unwrap();
        self.expected.push((number, self.model.clone()));
        while let Some(c) = self.device.next_completion(SimTime::NEVER).unwrap() {
            done.push(c);
        }
        assert!(done.iter().all(|c| c.outcome == Outcome::Done), "{what}");
        assert!(
            self.device.ftl().inspect().is_quiet(),
            "{what}: {}",
            self.device.ftl().inspect().leftovers()
        );
        self.device.ftl_mut().tables().check().unwrap_or_else(|e| panic!("{what}: {e}"));
        for (number, expected) in &self.expected {
            let c =
                done.iter().find(|c| c.number == *number).unwrap_or_else(|| panic!("{what}: a read is lost"));
            let found: Vec<u64> =
                c.data.chunks(SECTOR).map(|s| u64::from_le_bytes(s[..8].try_into().unwrap())).collect();
            assert_eq!(&found, expected, "{what}: read {number}");
        }
    }
}

/// The times at which something happens in a scene, and those just before.
fn moments(setting: &Setting, scene: Scene) -> Vec<u64> {
    let scheme = setting.scheme;
    let mut stage = Stage::new(setting);
    stage.play(scene);
    let began = stage.device.now();
    stage.device.advance_to(began + SimDuration(20_000_000)).unwrap();
    stage.device.drain().unwrap();
    if scene == Scene::Reclaim {
        assert!(stage.device.metrics().idle.erases > 0, "{scheme}: no block was given back");
    }
    let migrated: u64 =
        stage.device.ftl().counters().regions.iter().map(|r| r.reads[Cause::Migrate as usize]).sum();
    assert!(scene != Scene::Gathering || migrated > 0, "{scheme}: nothing is gathered");
    let mut times: Vec<u64> = stage
        .device
        .probe()
        .events
        .iter()
        .flat_map(|e| match e {
            Event::Array { start, end, .. } | Event::Bus { start, end, .. } => [start.0, end.0],
            Event::Ready { at, .. } => [at.0, at.0],
        })
        .filter(|t| *t >= began.0)
        .flat_map(|t| [t.saturating_sub(1), t])
        .collect();
    times.sort_unstable();
    times.dedup();
    times
}

fn every_moment(scheme: &'static str) {
    for scene in [Scene::Program, Scene::Fill, Scene::Collection] {
        every_moment_of(scheme, scene, 2);
    }
}

/// Intruders at the moments of a scene, of a long one at one in so many.
fn every_moment_of(scheme: &'static str, scene: Scene, one_in: usize) {
    let setting = Setting::new(scheme);
    let is_long = matches!(scene, Scene::Collection | Scene::Gathering);
    let times = moments(&setting, scene);
    // Two intruders, the second at the same moment or at any later one of a short scene.
    let stride = (times.len() / 12).max(1);
    let (step, seconds) = if is_long { (one_in, 4) } else { (1, INTRUDERS.len()) };
    for (i, first_at) in times.iter().enumerate().step_by(step) {
        for first in INTRUDERS {
            let later: Vec<u64> =
                if is_long { vec![*first_at] } else { times[i..].iter().copied().step_by(stride).collect() };
            for second_at in later {
                for second in &INTRUDERS[INTRUDERS.len() - seconds..] {
                    let mut stage = Stage::new(&setting);
                    stage.play(scene);
                    stage.intrude(first, *first_at);
                    stage.intrude(*second, second_at);
                    stage.intrude(Intruder::Read, second_at);
                    stage.finish(&format!(
                        "{scheme}: {scene:?}, {first:?} at {first_at}, {second:?} at {second_at}"
                    ));
                }
            }
        }
    }
}

#[test]
fn conventional_returns_newest_data_on_interleaving() {
    every_moment("conventional:mode=slc");
}

#[test]
fn one_shot_returns_newest_data_on_interleaving() {
    every_moment("conventional");
}

#[test]
fn slc_cache_returns_newest_data_on_interleaving() {
    every_moment("slc-cache");
}

#[test]
fn reclaimed_page_keeps_newest_data_on_interleaving() {
    let scheme = "hotness:heat=logical,warm=1,hot=2,decay=8,reclaim=on,idle_after=100us";
    for scene in [Scene::Reclaim, Scene::Program, Scene::Fill] {
        every_moment_of(scheme, scene, 1);
    }
}

#[test]
fn packing_schemes_return_newest_data_on_interleaving() {
    for scheme in ["sa:static_blocks=5", "sector:static_blocks=5", "hierarchy:static_blocks=5"] {
        every_moment_of(scheme, Scene::Program, 1);
        every_moment_of(scheme, Scene::Fill, 1);
        every_moment_of(scheme, Scene::Gathering, 64);
    }
    every_moment_of("hierarchy:static_blocks=5,runs=any", Scene::Gathering, 64);
}
