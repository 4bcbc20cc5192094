# Linux in QEMU, whose NVMe drive is a drive at an NBD socket: mounts ext4 there, and writes and syncs files as files.sh does.
#     qemu.sh prepare IMAGE         make an image of ext4
#     qemu.sh run SOCKET [OPTION]   boot, and print the name of each file when it is synced; OPTION is one of -device nvme
# Needs qemu-system-x86_64, a static busybox and cpio; $KERNEL is a kernel with NVMe and ext4 built in, as Debian's
# linux-image-cloud-amd64. ACCEL=kvm is faster where there is KVM; without it a boot takes half a
# minute.
set -e
if [ "$1" = prepare ]; then
    truncate -s 64M "$2" && exec mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$2"
fi
root=$(mktemp -d)
trap 'rm -r "$root"' EXIT
mkdir "$root/in" && cd "$root/in" && mkdir bin dev mnt proc && cp "${BUSYBOX:-/bin/busybox}" bin/busybox
cat > init <<'END'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
until [ -b /dev/nvme0n1 ]; do sleep 1; done
mount -t ext4 /dev/nvme0n1 /mnt || exec poweroff -f
for name in 1 2 3 4 5 6; do
    yes "$name" | head -c 6000 > /mnt/$name
    sync /mnt/$name && echo "synced: $name"
done
sync -f /mnt
echo "synced: all"
poweroff -f
END
chmod +x init
find . | cpio -o -H newc --quiet > ../initrd
qemu-system-x86_64 -machine q35 -accel "${ACCEL:-tcg}" -cpu max -m 256 -nodefaults -nographic -no-reboot -serial stdio \
    -kernel "$KERNEL" -initrd ../initrd -append "console=ttyS0 quiet panic=-1" -device "nvme,drive=disk,serial=1${3:+,$3}" \
    -blockdev "driver=nbd,node-name=disk,server.type=unix,server.path=$2,cache.direct=on" < /dev/null 2> /dev/null |
    sed -un 's/\r//g; s/.*synced: //p' | while read -r name; do
    [ "$name" = all ] && touch ../ended || echo "$name"
done
[ -e ../ended ]
