"""Every error raised on purpose. Each states a fact, has a stable `code`, and says what to do.

TenureError
├── InputError                     the caller's input is wrong; nothing was written
│   ├── PayloadError               not JSON, NaN, lone surrogate, too large
│   ├── ArgumentsError             the arguments do not fit the handler's signature
│   ├── OptionError                a negative delay, a name too long, a bad cursor ...
│   ├── KeyConflict                the unique key is in use with another payload
│   │   ├── KeyTaken               the unique key is in use by a job of somebody else
│   │   └── EventConflict          the event id was published with other content
│   ├── UnknownKind                this app has no handler of that name
│   ├── FilterRequired             an operator move on everything must be asked for
│   ├── CapabilityError            the store cannot do this: capability.py
│   └── UrlError                   the database URL cannot be understood
├── UsageError                     the call is made in the wrong place
│   ├── OutsideTransaction         a transaction is open here and the call is not in it
│   │   └── TransactionEnded       that transaction has ended already
│   ├── NeedsTransaction           the call only makes sense in a transaction of the caller
│   ├── SyncCallOnLoop             a blocking call on a running event loop
│   ├── SettledTwice               a second settlement of one run
│   ├── StepTwice                  two steps of one name in one run
│   ├── NeedsImmediate             SQLite: a read transaction cannot become a writing one
│   └── StatementCommits           MySQL: a schema change among other statements
├── AccessError                    who asks is not known, or may not: core/refusals.py
│   ├── Unauthenticated            nobody we know: no credential, or one that is not valid
│   ├── Forbidden                  known, and without the right to do this
│   └── IdentityUnavailable        the issuer's keys cannot be had now (retryable)
├── JobNotFound                    no such job
├── JobFailed                      the job ended without a result: reference.py
├── ScheduleNotFound               no such schedule
├── ApiKeyNotFound                 no such API key
├── LeaseLost                      the fence moved on: this holder may change nothing
├── MoveRefused                    the job's state does not allow the operator's move
├── VersionConflict                a record was changed by somebody else
├── TransferRefused                tenure move may not begin: nothing was written
├── TransferStopped                tenure move came to a row that the target does not take
├── TransferDiffers                tenure move: the two databases are not the same afterwards
└── StoreError                     the database
    ├── StoreUnavailable           cannot connect, the connection broke, or not now (retryable)
    │   ├── CommitUnknown          the connection broke at COMMIT: it may have happened
    │   └── StoreBusy              locks or conflicts of other transactions were in the way
    ├── ContentRefused             the database refuses a row for what is in it
    ├── UnsupportedDatabase        older than supported
    ├── MigrationsPending          the schema is older than this code
    ├── CodeTooOld                 the schema no longer serves this code
    └── DatabaseClosed             it is being filled by tenure move, or was moved away
"""

from __future__ import annotations

from typing import ClassVar


class TenureError(Exception):
    """Something Tenure can name went wrong."""

    code: ClassVar[str] = "tenure_error"
    retryable: ClassVar[bool] = False


class InputError(TenureError):
    """The caller's input is wrong; nothing was written."""

    code = "bad_input"


class PayloadError(InputError):
    """The payload cannot be stored as JSON."""

    code = "bad_payload"


class ArgumentsError(InputError):
    """The arguments do not fit the handler's signature."""

    code = "bad_arguments"

    def __init__(self, kind: str, problems: str) -> None:
        super().__init__(f"arguments do not fit the handler of {kind!r}: {problems}")
        self.kind = kind
        self.problems = problems


class OptionError(InputError):
    """An option has a value it cannot have."""

    code = "bad_option"


class KeyConflict(InputError):
    """The unique key is in use by a job with another payload."""

    code = "key_conflict"

    def __init__(self, kind: str, key: str, job_id: str) -> None:
        super().__init__(
            f"key {key!r} of {kind!r} belongs to job {job_id}, which has another payload; "
            "use another key, or mode 'replace' to change the waiting job"
        )
        self.kind = kind
        self.key = key
        self.job_id = job_id


class KeyTaken(KeyConflict):
    """The unique key is in use by a job of somebody else in the same tenant."""

    code = "key_taken"

    def __init__(self, kind: str, key: str) -> None:
        text = f"key {key!r} of {kind!r} is in use by a job that is not yours; use another key"
        InputError.__init__(self, text)
        self.kind = kind
        self.key = key
        self.job_id = ""


class EventConflict(KeyConflict):
    """The event id was published before, with other content."""

    code = "event_conflict"

    def __init__(self, kind: str, key: str, job_id: str) -> None:
        super().__init__(kind, key, job_id)
        self.args = (
            f"the event {key!r} was published already, as job {job_id}, and said something else; "
            "give this one another event_id, or none",
        )


class UnknownKind(InputError):
    """This app has no handler of that name."""

    code = "unknown_kind"

    def __init__(self, kind: str, known: list[str]) -> None:
        listed = ", ".join(sorted(known)) or "none"
        super().__init__(f"no handler is registered for {kind!r}; this app knows: {listed}")
        self.kind = kind


class FilterRequired(InputError):
    """An operator move without a filter would touch every job."""

    code = "filter_required"

    def __init__(self, move: str) -> None:
        super().__init__(
            f"{move} needs a filter (state, kind, queue, tenant, age or ids); "
            "it never runs over all jobs by accident"
        )


class UrlError(InputError):
    """The database URL cannot be understood."""

    code = "bad_url"


class UsageError(TenureError):
    """The call is made in a place where it cannot keep its promise."""

    code = "wrong_place"


class OutsideTransaction(UsageError):
    """A Tenure transaction is open here and this enqueue is not part of it."""

    code = "outside_transaction"

    def __init__(self) -> None:
        super().__init__(
            "a Tenure transaction is open in this thread or task; pass tx=... to enqueue in it, "
            "or enqueue after it has ended"
        )


class TransactionEnded(OutsideTransaction):
    """A transaction is used after its block has ended."""

    code = "transaction_ended"

    def __init__(self) -> None:
        text = "this transaction has ended: use tx inside its own with block, not after it"
        UsageError.__init__(self, text)


class NeedsTransaction(UsageError):
    """The call must share the transaction of the work that it is about."""

    code = "needs_transaction"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} needs the transaction of your work: pass the tx of app.transaction() or "
            "job.settle(), or your own connection or session"
        )


class SyncCallOnLoop(UsageError):
    """A blocking call was made on a running event loop."""

    code = "sync_call_on_loop"

    def __init__(self, name: str, instead: str) -> None:
        super().__init__(f"{name} would block the running event loop; use {instead} instead")


class SettledTwice(UsageError):
    """A run settles its job once."""

    code = "settled_twice"

    def __init__(self, job_id: str) -> None:
        super().__init__(f"job {job_id} was already settled in this run; settle() is called once")


class StepTwice(UsageError):
    """Two steps of one run have the same name."""

    code = "step_twice"

    def __init__(self, job_id: str, name: str) -> None:
        super().__init__(
            f"job {job_id} has had a step {name!r} in this run: each step needs a name of its own, "
            'such as f"charge:{invoice}"'
        )
        self.job_id = job_id
        self.name = name


class NeedsImmediate(UsageError):
    """A SQLite transaction that began by reading cannot become a writing one."""

    code = "needs_begin_immediate"

    def __init__(self) -> None:
        super().__init__(
            "this SQLite transaction began by reading and another writer came between; "
            "start it with BEGIN IMMEDIATE, then enqueue in it"
        )


class StatementCommits(UsageError):
    """A statement such as CREATE TABLE has committed what came before it."""

    code = "statement_commits"

    def __init__(self) -> None:
        super().__init__(
            "MySQL and MariaDB commit at a statement such as CREATE TABLE, and with it what came "
            "before in this transaction; put schema changes into a transaction of their own, and "
            "let the error of a deadlock through"
        )


class JobNotFound(TenureError):
    """There is no such job."""

    code = "job_not_found"

    def __init__(self, job_id: str) -> None:
        super().__init__(f"there is no job {job_id}")
        self.job_id = job_id


class ScheduleNotFound(TenureError):
    """There is no such schedule."""

    code = "schedule_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is no schedule {name!r}; a worker of the app that declares it makes its row"
        )


class LeaseLost(TenureError):
    """The job has another holder, or none: this one may change nothing."""

    code = "lease_lost"

    def __init__(self, job_id: str, fence: int) -> None:
        super().__init__(f"job {job_id} is no longer held with fence {fence}; nothing was written")
        self.job_id = job_id
        self.fence = fence


class MoveRefused(TenureError):
    """The job's state does not allow the operator's move."""

    code = "move_refused"

    def __init__(self, job_id: str, move: str, state: str, advice: str = "") -> None:
        super().__init__(
            f"cannot {move} job {job_id}: it is {state}{'; ' if advice else ''}{advice}"
        )
        self.job_id = job_id
        self.state = state


class VersionConflict(TenureError):
    """The record was changed by somebody else since it was read."""

    code = "version_conflict"
    retryable = True

    def __init__(self, collection: str, name: str) -> None:
        super().__init__(f"{collection}/{name} was changed meanwhile; read it again")


class TransferRefused(TenureError):
    """The jobs of one database may not be moved to another now; nothing was written."""

    code = "transfer_refused"


class TransferStopped(TenureError):
    """A row could not be written to the target."""

    code = "transfer_stopped"


class TransferDiffers(TenureError):
    """What was written is not what was read."""

    code = "transfer_differs"


class StoreError(TenureError):
    """The database did not do what it should."""

    code = "store_error"
    retryable = True


class StoreUnavailable(StoreError):
    """The database cannot be reached, the connection broke, or it cannot do this now."""

    code = "store_unavailable"


class CommitUnknown(StoreUnavailable):
    """The connection broke as the change was made: it may or may not have happened."""

    code = "commit_unknown"


class StoreBusy(StoreUnavailable):
    """Other transactions were in the way for too long; nothing was written."""

    code = "store_busy"


class ContentRefused(StoreError):
    """The database refuses a row for what is in it: trying again would not help."""

    code = "content_refused"
    retryable = False


class UnsupportedDatabase(StoreError):
    """The database is older than supported, or lacks what is needed."""

    code = "unsupported_database"
    retryable = False


class MigrationsPending(StoreError):
    """The schema is older than this code."""

    code = "migrations_pending"
    retryable = False

    def __init__(self, have: int, need: int, *, inside: bool = False) -> None:
        why = " first (the schema cannot be changed beside your open transaction)" if inside else ""
        super().__init__(
            f"the schema is at version {have} and this code needs {need}; run: tenure migrate{why}"
        )


class CodeTooOld(StoreError):
    """The schema no longer serves this code."""

    code = "code_too_old"
    retryable = False

    def __init__(self, code_version: int, serves: int) -> None:
        super().__init__(
            f"the schema serves code of schema version {serves} and newer; this code is at "
            f"{code_version}: upgrade tenure in this program"
        )


class DatabaseClosed(StoreError):
    """Nobody may use this database now."""

    code = "database_closed"
    retryable = False
