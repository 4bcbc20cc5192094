"""Where a request's time went, from what its last operation and its plane did, one by one.

The engine keeps running sums instead; the two must agree to the nanosecond.
"""

PARTS = (
    "admission",
    "map_miss",
    "staging",
    "behind_host",
    "behind_gc",
    "behind_migration",
    "space",
    "die",
    "retry",
    "bus",
    "link",
)


def serves_host(op) -> bool:
    return op.parts[0].is_host if op.kind == "program" else op.why == "request"


def whom(job, home) -> str:
    """What waits while a job's operation has the plane, waits behind this."""
    is_like_home = (job.region.pool, job.region.bits) == (home.pool, home.bits)
    return "behind_gc" if is_like_home else "behind_migration"


def of_op(op, home) -> str:
    """The same of any operation."""
    if op.kind == "program":
        return op.parts[0].whom
    if op.kind == "erase" or op.why == "job":
        return whom(op.owner, home)
    return "behind_host"


def ended(request, op, now: int) -> dict[str, int]:
    """The parts of a request that ends now, with the operation that ends with it, if any does."""
    parts = dict.fromkeys(PARTS, 0)
    parts["admission"] = request.admitted - request.arrival
    if op is None or request.op == "flush" or op.first_queued < request.admitted:
        parts["staging"] = now - request.admitted
        return parts
    parts["staging"] = op.first_queued - request.admitted
    for part, time in until_now(op, now).items():
        parts[part] += time
    return parts


def until_now(op, now: int) -> dict[str, int]:
    """What an operation has been through that ends now, or is suspended.

    One that is suspended is two to those who ask: the second waits from then on, and takes the
    array for what is left.
    """
    parts = dict.fromkeys(PARTS, 0)
    looked_until = op.began if op.blocked is None else op.blocked
    parts["space"] = op.began - looked_until
    waited = looked_until - op.queued
    for begin, end, whom in reversed(op.queued_at.past):  # the last that ended comes first
        if end <= op.queued:
            break
        overlap = max(0, min(end, looked_until) - max(begin, op.queued))
        parts[whom] += overlap
        waited -= overlap
    if op.earlier is not None:
        parts["die"] = waited + now - op.began
        return {part: time + op.earlier[part] for part, time in parts.items()}
    first = op.turned - op.began
    if op.kind == "read":
        parts["die"], parts["bus"] = waited + first - op.again, now - op.sensed
        parts["retry"] = op.again + op.sensed - op.turned
    else:
        parts["die"], parts["bus"] = now - op.turned, waited + first
    return parts
