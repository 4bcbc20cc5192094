//! `bursty`: a script that shows the purpose of an SLC cache. Bursts of writes that a cache can absorb are
//! each followed by idle time in which it can be emptied. One burst that is too long for the cache follows.
//! Half of a burst's requests continue a sequential stream, half are small writes scattered over a hot part.
//! Reads of the hot part continue throughout, so that their latency shows the cost of the writes.

use crate::generators::synthetic::bursts::Bursts;
use crate::generators::synthetic::registry::{Plan, Synthetic};
use wordline_trace::options::value;
pub(crate) static BURSTY: Synthetic = Synthetic {
    name: "bursty",
    title: "write bursts with idle time between them, then one too long for an SLC cache, with reads \
            throughout",
    own: &[
        value("bursts", "count", "6", "1 to 1000000", "bursts before the long one"),
        value("burst", "size", "1%", "bytes, or a share of the drive", "bytes written in a burst"),
        value(
            "long",
            "size",
            "15%",
            "bytes, or a share of the drive; 0% for none",
            "bytes written in the long burst",
        ),
        value("quiet", "time", "2s", "0 or more", "idle time between bursts and after the last one"),
        value("write_rate", "bytes/s", "400MB/s", "above 0", "write rate in a burst"),
        value("sequential", "fraction", "50%", "0% to 100%", "share of the writes that continue a stream"),
        value("stream_bs", "size", "128KiB", "as bs", "size of sequential writes"),
        value("bs", "size", "4KiB@50/16KiB@50", "512B to 1GiB, or weights", "size of scattered writes"),
        value("read", "fraction", "20%", "0% to 99%", "share of reads among a burst's requests"),
        value("read_bs", "size", "4KiB", "as bs", "size of reads"),
        value("read_rate", "requests/s", "500", "0 to 1M", "reads per second between bursts"),
        value("hot", "fraction", "5%", "above 0% to 100%", "share of the span that scattered requests hit"),
        value("theta", "number", "0.9", "0 to 5", "skew of Zipf's law within the hot part"),
    ],
    has_common: false,
    plan: |o| Plan::Bursts(Box::new(Bursts::of(o))),
};
