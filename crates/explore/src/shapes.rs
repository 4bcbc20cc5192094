//! The drives and schemes that are gone through.

use crate::drive::Drive;
use crate::lists::{ALL, THIN};
use crate::search::{Found, Limits, Search};
use crate::world::{Host, World};
use wordline_device::DeviceSpec;
use wordline_schemes::Registry;

/// A scheme on a drive, and the requests of its host.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The scheme's spelling.
    pub scheme: String,
    /// Keys of the drive that differ from the common settings.
    pub keys: Vec<(String, String)>,
    /// Requests of the host.
    pub host: Host,
}

/// Wordlines per block and blocks per plane, as many as a scheme needs.
const WORDLINES: [u32; 4] = [1, 2, 4, 8];
const BLOCKS: [u32; 10] = [4, 5, 6, 7, 8, 12, 16, 20, 24, 32];

impl Shape {
    /// Parse a shape: the scheme with its parameters, keys of the drive as `key=value`, and host requests as
    /// `write:0,1`, `part:0`, `read:0`, `trim:0`, `flush`, `requests:2` at once, `in-all:20`; separated by
    /// spaces.
    ///
    /// # Errors
    /// The first word that is none of these.
    pub fn new(text: &str) -> Result<Shape, String> {
        let mut words = text.split_whitespace();
        let scheme = words.next().ok_or("a shape begins with a scheme")?.to_string();
        let mut host = Host { at_once: 2, ..Host::default() };
        let mut keys = vec![];
        for word in words {
            let pages = |list: &str| -> Result<Vec<u8>, String> {
                list.split(',')
                    .map(|page| page.parse().map_err(|_| format!("{word:?} does not name pages")))
                    .collect()
            };
            match (word.split_once('='), word.split_once(':')) {
                (Some((key, value)), _) => keys.push((key.to_string(), value.to_string())),
                (_, Some(("write", list))) => host.writes = pages(list)?,
                (_, Some(("part", list))) => host.parts = pages(list)?,
                (_, Some(("read", list))) => host.reads = pages(list)?,
                (_, Some(("trim", list))) => host.trims = pages(list)?,
                (_, Some(("requests", n))) => {
                    host.at_once = n.parse().map_err(|_| format!("{word:?} is not a number"))?;
                }
                (_, Some(("in-all", n))) => {
                    host.in_all = Some(n.parse().map_err(|_| format!("{word:?} is not a number"))?);
                }
                _ if word == "flush" => host.flushes = true,
                _ => keys.push((word.to_string(), String::new())),
            }
        }
        Ok(Shape { scheme, keys, host })
    }

    /// Small drives for a scheme, the smallest first, with a host that writes, reads, trims and flushes.
    pub fn small(scheme: &str) -> impl Iterator<Item = Shape> {
        let media: [&[&str]; 3] = [&[], &["qlc"], &["fast"]];
        let flashes = WORDLINES.iter().flat_map(|wordlines| BLOCKS.map(|blocks| (wordlines, blocks)));
        flashes.flat_map(move |flash| media.map(|media| (flash, media))).map(move |(flash, media)| {
            let mut keys = vec![
                ("medium.flash.wordlines_per_block".to_string(), flash.0.to_string()),
                ("medium.flash.blocks_per_plane".to_string(), flash.1.to_string()),
            ];
            keys.extend(media.iter().map(|word| (word.to_string(), String::new())));
            let (writes, reads, trims) = (vec![0, 1], vec![0], vec![1]);
            let host = Host { writes, reads, trims, flushes: true, at_once: 2, ..Host::default() };
            Shape { scheme: scheme.to_string(), keys, host }
        })
    }

    fn of_keys(&self) -> Result<Drive, String> {
        let keys: Vec<(&str, &str)> = self.keys.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        Drive::new(&keys)
    }

    /// The drive described by its keys.
    ///
    /// # Errors
    /// Why the keys describe no valid drive.
    pub fn spec(&self) -> Result<DeviceSpec, String> {
        Ok(self.of_keys()?.spec)
    }

    /// The drive, with every page written once.
    ///
    /// # Errors
    /// Why the drive cannot be filled.
    pub fn world(&self, schemes: &Registry) -> Result<World, String> {
        let drive = self.of_keys()?;
        let scheme = schemes.build(&self.scheme).map_err(|e| e.to_string())?;
        let mut world = World::new(&drive, scheme, self.host.clone())?;
        world.fill()?;
        Ok(world)
    }

    /// Visit all its states.
    ///
    /// # Errors
    /// Why the drive is invalid.
    pub fn explore(&self, schemes: &Registry, limits: Limits) -> Result<Found, String> {
        Ok(Search::new(self.world(schemes)?).run(limits))
    }

    /// Summary of the drive: planes, blocks per plane, pages per block, logical pages.
    ///
    /// # Errors
    /// Why the drive is invalid.
    pub fn drive(&self) -> Result<String, String> {
        let drive = self.of_keys()?;
        let media: Vec<String> = (drive.geometry.media.iter())
            .map(|m| {
                let shape = m.shape(m.densest());
                format!("{}x{}x{}", m.topology.planes_per_die, m.blocks_per_plane, shape.pages())
            })
            .collect();
        Ok(format!("{}, {} logical", media.join(" + "), drive.logical_pages()))
    }
}

impl Shape {
    /// Shapes that `make test` explores, as text; takes seconds.
    pub fn thin() -> &'static [&'static str] {
        THIN
    }

    /// Shapes that `make explore` explores: each scheme, and pairs of them.
    pub fn all() -> &'static [&'static str] {
        ALL
    }
}
