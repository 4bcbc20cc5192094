# Write files to a file system on the drive at a unix socket, and print the name of each when it is synced.
#     mount.sh SOCKET [OPTIONS OF MOUNT]
# As root, with nbdfuse (libnbd) and losetup.
set -e
at=$(mktemp -d)
mkdir "$at/fuse" "$at/mnt"
nbdfuse "$at/fuse/disk" --unix "$1" &
until [ -s "$at/fuse/disk" ]; do sleep .05; done
loop=$(losetup --find --show --direct-io=on "$at/fuse/disk")
trap 'umount "$at/mnt"; losetup -d "$loop"; umount "$at/fuse"; rm -r "$at"' EXIT
mount -o "${2:-defaults}" "$loop" "$at/mnt"
for name in 1 2 3 4 5 6; do
    yes "$name" | head -c 6000 > "$at/mnt/$name"
    sync "$at/mnt/$name"
    echo "$name"
done
