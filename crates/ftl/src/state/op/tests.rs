use super::*;

#[test]
fn queue_entry_mirrors_its_operation() {
    for kind in OpKind::ALL {
        for cause in Cause::ALL {
            for class in [Class::Held, Class::Read, Class::Urgent, Class::Write, Class::Background] {
                let mut op = Op::new(kind, PlaneId(3), cause, class);
                (op.key, op.idle, op.to_bring) = (5 << 56 | 9, true, Some(1));
                let entry = QueueEntry::of(OpId(7), &op, false);
                assert_eq!((entry.kind(), entry.cause(), entry.class()), (kind, cause, class));
                assert_eq!((entry.op, entry.plane, entry.rank()), (OpId(7), PlaneId(3), 5));
                assert_eq!(
                    (entry.is_read(), entry.is_program()),
                    (kind == OpKind::Read, kind == OpKind::Program)
                );
                assert!(
                    entry.is_idle_work() && entry.goes_on() && entry.may_be_cached() && !entry.serves_host()
                );
                let op = Op { owner: Owner::Answered, idle: false, to_bring: None, copies: true, ..op };
                let entry = QueueEntry::of(OpId(7), &op, false);
                assert!(
                    !entry.is_idle_work()
                        && !entry.goes_on()
                        && !entry.may_be_cached()
                        && entry.serves_host()
                );
                assert_eq!((entry.kind(), entry.cause(), entry.class()), (kind, cause, class));
            }
        }
    }
}
