//! The engines of fio: how many requests each keeps outstanding, or why it sends none to a drive.

use Engine::{Asynchronous, Refused, Synchronous};

/// How an engine uses a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    /// It keeps `iodepth` requests outstanding.
    Asynchronous,
    /// It keeps one.
    Synchronous,
    /// It does not use a block device; this is what it does.
    Refused(&'static str),
}

const MEMORY: &str = "accesses persistent memory instead of a block device";
const NETWORK: &str = "accesses a network instead of a block device";
const CLUSTER: &str = "accesses files or objects of a server instead of a block device";
const NAMES: &str = "changes files and names without reads or writes";

const ENGINES: &[(&str, Engine)] = &[
    (
        "libaio io_uring io_uring_cmd posixaio sg null cpp_null windowsaio solarisaio guasi nbd rbd \
         libiscsi libblkio xnvme spdk nvme",
        Asynchronous,
    ),
    ("psync sync vsync pvsync pvsync2 mmap splice", Synchronous),
    ("libzbc", Refused("needs a zoned device, which is not modelled")),
    ("mtd", Refused("needs raw flash without an FTL")),
    ("libpmem pmemblk dev-dax librpma_apm_server librpma_gpspm_server", Refused(MEMORY)),
    ("net netsplice rdma librpma_apm_client librpma_gpspm_client", Refused(NETWORK)),
    ("libhdfs http nfs gfapi gfapi_async dfs rados ime_psync ime_psyncv ime_aio", Refused(CLUSTER)),
    ("libcufile", Refused("transfers files to GPU memory, bypassing the block device")),
    ("filecreate filestat filedelete dircreate dirstat dirdelete ftruncate falloc e4defrag", Refused(NAMES)),
    ("cpuio", Refused("computes without I/O")),
    ("exec", Refused("starts a program without I/O")),
];

/// An engine by its name.
pub(crate) fn engine(name: &str) -> Option<Engine> {
    ENGINES.iter().find(|(names, _)| names.split(' ').any(|known| known == name)).map(|e| e.1)
}

/// The engines that use a drive.
pub(crate) fn usable() -> Vec<&'static str> {
    let usable = ENGINES.iter().filter(|(_, e)| !matches!(e, Refused(_)));
    usable.flat_map(|(names, _)| names.split(' ')).collect()
}
