# Exit with 0 if the file system on an image is whole, and each file that was synced is there.
#     fsck.sh IMAGE MARKS
e2fsck -fp "$1" > /dev/null  # replays the journal
e2fsck -fn "$1" || exit 1
while read -r name; do
    [ "$(debugfs -R "cat /$name" "$1" 2> /dev/null)" = "$(yes "$name" | head -c 6000)" ] ||
        { echo "file $name was synced, and is not there whole"; exit 1; }
done < "$2"
