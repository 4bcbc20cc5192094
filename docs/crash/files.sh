# Write six files of 6000 or more bytes below a folder, and print the name of each when it is synced; or look for those that were.
#     files.sh run MNT [BYTES]
#     files.sh verify MNT MARKS [BYTES]
if [ "$1" = run ]; then
    for name in 1 2 3 4 5 6; do
        yes "$name" | head -c "${3:-6000}" > "$2/$name"
        sync "$2/$name" && echo "$name"
    done
    sync -f "$2"
else
    while read -r name; do
        yes "$name" | head -c "${4:-6000}" | cmp -s - "$2/$name" || { echo "file $name was synced, and is not there whole"; exit 1; }
    done < "$3"
fi
