# Exit with 0 if the file system on an image is whole; with `durable`, if each file that was synced is there.
#     fsck.sh IMAGE MARKS [durable]
# XFS is mounted, as root, since only the kernel replays its journal.
marks=${3:+$2}
[ -n "$marks" ] || marks=/dev/null
if [ "$(head -c 4 "$1")" = XFSB ]; then
    at=$(mktemp -d)
    trap 'umount -q "$at"; rmdir "$at"' EXIT
    mount -t xfs -o loop,nouuid "$1" "$at" || exit 1
    sh "$(dirname "$0")/files.sh" verify "$at" "$marks" 65536 || exit 1
    umount "$at" && xfs_repair -n "$1"
    exit
fi
e2fsck -fp "$1" > /dev/null  # replays the journal
e2fsck -fn "$1" || exit 1
while read -r name; do
    [ "$(debugfs -R "cat /$name" "$1" 2> /dev/null)" = "$(yes "$name" | head -c 6000)" ] ||
        { echo "file $name was synced, and is not there whole"; exit 1; }
done < "$marks"
