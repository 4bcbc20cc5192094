//! The engines of fio: how many requests each keeps outstanding, or why it asks no drive for anything.

use Engine::{Asynchronous, Refused, Synchronous};

/// What an engine is to a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    /// It keeps `iodepth` requests outstanding.
    Asynchronous,
    /// It keeps one.
    Synchronous,
    /// It asks no block device; this is what it does.
    Refused(&'static str),
}

const MEMORY: &str = "stores to persistent memory, and no block device is asked";
const NETWORK: &str = "sends over a network, and no block device is asked";
const CLUSTER: &str = "asks a server for files or objects, and no block device";
const NAMES: &str = "changes files and their names, and asks for no reads or writes";

const ENGINES: &[(&str, Engine)] = &[
    (
        "libaio io_uring io_uring_cmd posixaio sg null cpp_null windowsaio solarisaio guasi nbd rbd \
         libiscsi libblkio xnvme spdk nvme",
        Asynchronous,
    ),
    ("psync sync vsync pvsync pvsync2 mmap splice", Synchronous),
    ("libzbc", Refused("drives a zoned device, and the drive has no zones that are written in order")),
    ("mtd", Refused("drives raw flash, which has no logical addresses; a drive of Wordline has an FTL")),
    ("libpmem pmemblk dev-dax librpma_apm_server librpma_gpspm_server", Refused(MEMORY)),
    ("net netsplice rdma librpma_apm_client librpma_gpspm_client", Refused(NETWORK)),
    ("libhdfs http nfs gfapi gfapi_async dfs rados ime_psync ime_psyncv ime_aio", Refused(CLUSTER)),
    ("libcufile", Refused("moves files to the memory of a GPU, past the block device's interface")),
    ("filecreate filestat filedelete dircreate dirstat dirdelete ftruncate falloc e4defrag", Refused(NAMES)),
    ("cpuio", Refused("computes, and asks no drive for anything")),
    ("exec", Refused("starts a program, and asks no drive for anything")),
];

/// What an engine is, by its name.
pub(crate) fn engine(name: &str) -> Option<Engine> {
    ENGINES.iter().find(|(names, _)| names.split(' ').any(|known| known == name)).map(|e| e.1)
}

/// The engines that ask a drive.
pub(crate) fn usable() -> Vec<&'static str> {
    let usable = ENGINES.iter().filter(|(_, e)| !matches!(e, Refused(_)));
    usable.flat_map(|(names, _)| names.split(' ')).collect()
}
