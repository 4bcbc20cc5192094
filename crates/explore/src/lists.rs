//! The explored drives, one per line, in the form that [`crate::Shape::new`] reads. If a scheme does not fit the
//! smallest drive, its line has as many blocks as its layout needs.

/// Explored by `make test`.
pub(crate) const THIN: &[&str] = &[
    "conventional:mode=slc capacity.logical=5KiB write:0,2 requests:2",
    "conventional:mode=slc capacity.logical=4KiB write:0 read:0 trim:0 flush requests:1",
    "conventional:mode=slc medium.flash.page=1KiB mapping.packing=page medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=2KiB write:0,1 requests:1",
    "conventional one-shot medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=2KiB write:0 requests:2",
    "conventional:mode=slc parallel.superblock=die medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=3KiB write:0 requests:1",
    "conventional one-shot parallel.superblock=die medium.flash.wordlines_per_block=2 medium.flash.blocks_per_plane=5 capacity.logical=18KiB write:0 requests:1 in-all:1",
    "slc-cache medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=3KiB write:0,2 requests:1",
    "slc-cache:static_blocks=0,dynamic_blocks=2 medium.flash.wordlines_per_block=1 capacity.logical=3KiB write:0 requests:1",
    "hot-cold:hot=30% medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=4KiB write:0 requests:2",
    "conventional-tlc medium.flash.wordlines_per_block=1 capacity.logical=4KiB write:0,2 requests:1",
    "pa-ssd:QDS+US,queue=1 medium.flash.wordlines_per_block=1 capacity.logical=3KiB write:0 requests:1",
    "turbo-write:static_blocks=2,dynamic_blocks=0,idle_after=100us medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=3KiB write:0 requests:1",
    "ips:window=1 medium.flash.wordlines_per_block=1 capacity.logical=3KiB write:0 requests:2",
    "sa one-shot medium.flash.page=1KiB mapping.unit=1KiB medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=4KiB write:0 part:0 requests:1",
    "slc-cache:static_blocks=2,dynamic_blocks=0+conventional medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=2KiB write:0 requests:2",
];

/// Explored by `make explore` in addition.
pub(crate) const ALL: &[&str] = &[
    "conventional:mode=slc capacity.logical=1KiB write:0,1 requests:2",
    "conventional:mode=slc parallel.superblock=die capacity.logical=1KiB write:0 requests:1",
    "conventional one-shot parallel.superblock=die medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=2KiB write:0 requests:1",
    "conventional one-shot parallel.superblock=die medium.flash.wordlines_per_block=1 capacity.logical=3KiB write:0 requests:1",
    "conventional:mode=mlc capacity.logical=4KiB write:0,2 requests:1",
    "turbo-write:static_blocks=1,dynamic_blocks=1,idle_after=100us medium.flash.wordlines_per_block=1 capacity.logical=2KiB write:0 requests:1",
    "ips-agc:window=1,layers=1,idle_after=100us medium.flash.wordlines_per_block=1 capacity.logical=1KiB write:0 requests:1",
    "sa one-shot medium.flash.page=1KiB mapping.unit=1KiB medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=4KiB write:0 part:0 requests:2",
    "hierarchy:window=1 one-shot medium.flash.page=1KiB mapping.unit=1KiB medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=4KiB write:0 part:0 requests:2 in-all:6",
    "slc-cache:static_blocks=2,dynamic_blocks=0+ips-agc:window=1,layers=1,idle_after=100us medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=2KiB write:0 requests:1",
    "conventional:mode=slc ack.mode=buffer ack.pages=2 capacity.logical=4KiB write:0,2 flush requests:2",
    "slc-cache gc.class=foreground medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=3KiB write:0,2 requests:1",
    "ips-cooperative:window=1,layers=1,traditional=1,idle_after=100us medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=1KiB write:0 requests:1 in-all:12",
    "raro:warm=1,hot=2,r1=0,r2_young=0,heat=logical,decay=3 qlc medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=2KiB write:0 read:0 requests:1 in-all:12",
    "hotness:warm=1,hot=2,heat=logical,decay=2 qlc medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=2KiB write:0 read:0 requests:1 in-all:12",
    "hyssd:static,u=25%,period=1,age=1,idle_after=100us fast allocation.order=dynamic medium.flash.wordlines_per_block=1 capacity.logical=3KiB write:0,1 requests:2 in-all:4",
    "sector one-shot medium.flash.page=1KiB mapping.unit=1KiB medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=5 capacity.logical=4KiB write:0 part:0 requests:1 in-all:4",
    "turbo-write:static_blocks=2,dynamic_blocks=0,idle_after=100us+pa-ssd:US medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=6 capacity.logical=2KiB write:0 requests:1 in-all:12",
    "slc-cache:static_blocks=2,dynamic_blocks=0+raro:warm=1,hot=2,r1=0,r2_young=0,heat=logical,decay=3 qlc medium.flash.wordlines_per_block=1 medium.flash.blocks_per_plane=6 capacity.logical=1KiB write:0 read:0 requests:1 in-all:10",
];
