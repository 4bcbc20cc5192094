# PostgreSQL on a mounted drive: transfers between accounts, each with its number.
#     postgres.sh prepare IMAGE               make an image of ext4 with a new cluster, which has data checksums
#     postgres.sh run MNT [SETTING=VALUE ...] commit transfers, and print the number of each
#     postgres.sh verify MNT MARKS [durable]  exit with 0 if the database is whole; with `durable`, if no transfer is missing
# As root, with PostgreSQL's server programs in $BIN (default: the newest below /usr/lib/postgresql).
set -e
bin=${BIN:-$(ls -d /usr/lib/postgresql/*/bin | tail -1)}
what=$1 at=$2
as() { setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"; }
sql() { as "$bin/psql" -qAtX -v ON_ERROR_STOP=1 -h "$sockets" postgres "$@"; }
start() {
    sockets=$(mktemp -d) && chown postgres "$sockets"
    as "$bin/pg_ctl" -s -w -t 50 -D "$at/pg" -l "$sockets/log" \
        -o "-k $sockets -c listen_addresses= -c shared_buffers=1MB -c autovacuum=off $1" start > /dev/null ||
        { grep -E 'ERROR|FATAL|PANIC' "$sockets/log" || tail -5 "$sockets/log"; return 1; }
}
stop() { as "$bin/pg_ctl" -s -D "$at/pg" -m immediate stop; rm -r "$sockets"; }
case $what in
prepare)
    truncate -s 160M "$at" && mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$at"
    image=$at at=$(mktemp -d) && mount -o loop "$image" "$at"
    mkdir "$at/pg" && chown postgres "$at/pg" && chmod 755 "$at"
    as "$bin/initdb" -k --wal-segsize=1 -D "$at/pg" > /dev/null
    start "" && sql -c "CREATE TABLE account AS SELECT id, 1000 AS balance, repeat('.', 900) AS note FROM generate_series(0, 79) AS id" \
        -c "CREATE TABLE done AS SELECT 0 AS number" -c CHECKPOINT
    as "$bin/pg_ctl" -s -D "$at/pg" -m fast stop
    umount "$at" && rmdir "$at"
    ;;
run)
    shift 2
    settings=
    for setting in "$@"; do settings="$settings -c $setting"; done
    start "$settings"
    for number in $(seq 1 12); do
        [ $((number % 4)) = 0 ] && sql -c CHECKPOINT
        sql -c "BEGIN; UPDATE account SET balance = balance - 7 WHERE id = $number * 5 % 80;
            UPDATE account SET balance = balance + 7 WHERE id = $number * 11 % 80; UPDATE done SET number = $number; COMMIT"
        echo "$number"
    done
    sql -c CHECKPOINT # what was not synced reaches the drive at the end
    sync -f "$at"
    stop
    ;;
verify)
    rm -f "$at/pg/postmaster.pid" # of a server before the power cut, whose number another process may have
    start "" || exit 1
    found=$(sql -c "SELECT sum(balance), min(number) FROM account, done") || { stop; exit 1; }
    stop
    committed=$(tail -1 "$3")
    [ "${found%|*}" = 80000 ] || { echo "half a transfer: ${found%|*} in all accounts"; exit 1; }
    [ "$4" != durable ] || [ "${found#*|}" -ge "${committed:-0}" ] || { echo "transfer $committed was acknowledged, and the newest is ${found#*|}"; exit 1; }
    ;;
esac
