"""Every error that Tenure raises on purpose, with a stable `code` and a message that helps.

TenureError
├── InputError                     the input is wrong; nothing was written
│   ├── PayloadError               not JSON, NaN, lone surrogate, too large
│   ├── ArgumentsError             the arguments do not match the handler's signature
│   ├── OptionError                an option has an invalid value
│   ├── KeyConflict                the unique key is in use with another payload
│   │   ├── KeyTaken               the unique key is in use by another owner's job
│   │   └── EventConflict          the event id was published with other content
│   ├── UnknownKind                this app has no handler for the kind
│   ├── FilterRequired             a bulk move needs a filter
│   ├── CapabilityError            the store cannot do this: capability.py
│   └── UrlError                   the database URL is invalid
├── UsageError                     the call is not allowed here
│   ├── OutsideTransaction         a transaction is open and the call does not use it
│   │   └── TransactionEnded       the transaction has ended
│   ├── NeedsTransaction           the call needs your transaction
│   ├── SyncCallOnLoop             a blocking call on a running event loop
│   ├── SettledTwice               a run settled its job twice
│   ├── StepTwice                  a run used a step name twice
│   ├── NeedsImmediate             SQLite: a read transaction cannot be upgraded
│   └── StatementCommits           MySQL: a schema change inside a transaction
├── AccessError                    the caller is unknown or not allowed: core/refusals.py
│   ├── Unauthenticated            no credential, or an invalid one
│   ├── Forbidden                  the caller lacks the permission
│   └── IdentityUnavailable        cannot fetch the issuer's signing keys (retryable)
├── JobNotFound                    no such job
├── JobFailed                      the job ended without a result: reference.py
├── ScheduleNotFound               no such schedule
├── ApiKeyNotFound                 no such API key
├── LeaseLost                      the lease of this run has ended; it may not write
├── MoveRefused                    the job's state does not allow the move
├── FeatureNeeded                  a feature that follows the job is not here: core/endings.py
├── EndingFailed                   what a feature does at the end of a job failed
├── VersionConflict                a record was changed concurrently
├── TransferRefused                tenure move cannot start; nothing was written
├── TransferStopped                tenure move: the target rejects a row
├── TransferDiffers                tenure move: source and target differ after the copy
└── StoreError                     the database failed
    ├── StoreUnavailable           no connection, or the database cannot do this now (retryable)
    │   ├── CommitUnknown          the connection broke during COMMIT
    │   └── StoreBusy              other transactions held locks for too long
    ├── ContentRefused             the database rejects the content of a row
    ├── UnsupportedDatabase        the database is too old or lacks a feature
    ├── MigrationsPending          the schema is older than this code
    ├── CodeTooOld                 this code is older than the schema allows
    └── DatabaseClosed             tenure move is filling the database, or moved it away
"""

from __future__ import annotations

from typing import ClassVar


class TenureError(Exception):
    """Base of all errors that Tenure raises."""

    code: ClassVar[str] = "tenure_error"
    retryable: ClassVar[bool] = False


class InputError(TenureError):
    """The input is wrong; nothing was written."""

    code = "bad_input"


class PayloadError(InputError):
    """The payload cannot be stored as JSON."""

    code = "bad_payload"


class ArgumentsError(InputError):
    """The arguments do not match the handler's signature."""

    code = "bad_arguments"

    def __init__(self, kind: str, problems: str) -> None:
        super().__init__(f"the arguments do not match the handler of {kind!r}: {problems}")
        self.kind = kind
        self.problems = problems


class OptionError(InputError):
    """An option has an invalid value."""

    code = "bad_option"


class KeyConflict(InputError):
    """The unique key is in use by a job with another payload."""

    code = "key_conflict"

    def __init__(self, kind: str, key: str, job_id: str) -> None:
        super().__init__(
            f"key {key!r} of {kind!r} is in use by job {job_id}, which has another payload; "
            "use another key, or key_mode='replace' to change the queued job"
        )
        self.kind = kind
        self.key = key
        self.job_id = job_id


class KeyTaken(KeyConflict):
    """The unique key is in use by a job of another owner in the same tenant."""

    code = "key_taken"

    def __init__(self, kind: str, key: str) -> None:
        text = f"key {key!r} of {kind!r} is in use by a job of another owner; use another key"
        InputError.__init__(self, text)
        self.kind = kind
        self.key = key
        self.job_id = ""


class EventConflict(KeyConflict):
    """An event with this id was published before, with other content."""

    code = "event_conflict"

    def __init__(self, kind: str, key: str, job_id: str) -> None:
        super().__init__(kind, key, job_id)
        self.args = (
            f"event {key!r} was published before as job {job_id}, with other content; "
            "use another event_id, or omit it",
        )


class UnknownKind(InputError):
    """This app has no handler for the kind."""

    code = "unknown_kind"

    def __init__(self, kind: str, known: list[str]) -> None:
        listed = ", ".join(sorted(known)) or "none"
        super().__init__(f"no handler is registered for {kind!r}; this app knows: {listed}")
        self.kind = kind


class FilterRequired(InputError):
    """A bulk move needs a filter."""

    code = "filter_required"

    def __init__(self, move: str) -> None:
        super().__init__(
            f"{move} needs a filter, so that it cannot change every job by accident; "
            "give ids, or a state, kind, queue, tenant or creation time"
        )


class UrlError(InputError):
    """The database URL is invalid."""

    code = "bad_url"


class UsageError(TenureError):
    """The call is not allowed here."""

    code = "wrong_place"


class OutsideTransaction(UsageError):
    """A Tenure transaction is open, and this call does not use it."""

    code = "outside_transaction"

    def __init__(self) -> None:
        super().__init__(
            "a Tenure transaction is open in this thread or task; pass tx=tx to enqueue in it, "
            "or enqueue after it has ended"
        )


class TransactionEnded(OutsideTransaction):
    """The transaction has ended."""

    code = "transaction_ended"

    def __init__(self) -> None:
        text = "this transaction has ended; use tx inside its with block only"
        UsageError.__init__(self, text)


class NeedsTransaction(UsageError):
    """The call needs the transaction of your own rows."""

    code = "needs_transaction"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} needs a transaction; pass the tx of app.transaction() or job.settle(), "
            "or your own connection or session"
        )


class SyncCallOnLoop(UsageError):
    """A blocking call was made on a running event loop."""

    code = "sync_call_on_loop"

    def __init__(self, name: str, instead: str) -> None:
        super().__init__(f"{name} would block the running event loop; use {instead} instead")


class SettledTwice(UsageError):
    """A run settled its job twice."""

    code = "settled_twice"

    def __init__(self, job_id: str) -> None:
        super().__init__(f"job {job_id} was already settled in this run; call job.settle() once")


class StepTwice(UsageError):
    """A run used a step name twice."""

    code = "step_twice"

    def __init__(self, job_id: str, name: str) -> None:
        super().__init__(
            f"job {job_id} already had a step {name!r} in this run; give each step its own name, "
            'such as f"charge:{invoice}"'
        )
        self.job_id = job_id
        self.name = name


class NeedsImmediate(UsageError):
    """A SQLite transaction that started with a read cannot be upgraded to write."""

    code = "needs_begin_immediate"

    def __init__(self) -> None:
        super().__init__(
            "this SQLite transaction started with a read, and another connection has written "
            "since; start it with BEGIN IMMEDIATE"
        )


class StatementCommits(UsageError):
    """A statement such as CREATE TABLE committed the transaction."""

    code = "statement_commits"

    def __init__(self) -> None:
        super().__init__(
            "the transaction ended inside its block: MySQL and MariaDB commit at statements such "
            "as CREATE TABLE, and roll back at a deadlock; run schema changes in a transaction "
            "of their own, and do not catch deadlock errors"
        )


class JobNotFound(TenureError):
    """The job does not exist."""

    code = "job_not_found"

    def __init__(self, job_id: str) -> None:
        super().__init__(f"there is no job {job_id}")
        self.job_id = job_id


class ScheduleNotFound(TenureError):
    """The schedule does not exist."""

    code = "schedule_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no schedule {name!r}; a worker of its app creates it")


class LeaseLost(TenureError):
    """The lease of this run has ended; it may not write."""

    code = "lease_lost"

    def __init__(self, job_id: str, fence: int) -> None:
        super().__init__(f"the lease on job {job_id}, fence {fence}, ended; nothing was written")
        self.job_id = job_id
        self.fence = fence


class MoveRefused(TenureError):
    """The job's state does not allow the move."""

    code = "move_refused"

    def __init__(self, job_id: str, move: str, state: str, advice: str = "") -> None:
        super().__init__(
            f"cannot {move} job {job_id}: it is {state}{'; ' if advice else ''}{advice}"
        )
        self.job_id = job_id
        self.state = state


class VersionConflict(TenureError):
    """The record was changed after it was read."""

    code = "version_conflict"
    retryable = True

    def __init__(self, collection: str, name: str) -> None:
        super().__init__(f"{collection}/{name} was changed after it was read; read it again")


class TransferRefused(TenureError):
    """The move cannot start; nothing was written."""

    code = "transfer_refused"


class TransferStopped(TenureError):
    """The target database rejects a row."""

    code = "transfer_stopped"


class TransferDiffers(TenureError):
    """Source and target differ after the copy."""

    code = "transfer_differs"


class StoreError(TenureError):
    """The database failed."""

    code = "store_error"
    retryable = True


class StoreUnavailable(StoreError):
    """The database cannot be reached, or cannot do this now."""

    code = "store_unavailable"


class CommitUnknown(StoreUnavailable):
    """The connection broke during COMMIT: the change may or may not have been made."""

    code = "commit_unknown"


class StoreBusy(StoreUnavailable):
    """Other transactions held locks for too long; nothing was written."""

    code = "store_busy"


class ContentRefused(StoreError):
    """The database rejects the content of a row; retrying does not help."""

    code = "content_refused"
    retryable = False


class UnsupportedDatabase(StoreError):
    """The database is too old, or lacks a required feature."""

    code = "unsupported_database"
    retryable = False


class MigrationsPending(StoreError):
    """The schema is older than this code."""

    code = "migrations_pending"
    retryable = False

    def __init__(self, have: int, need: int, *, inside: bool = False) -> None:
        why = " before you open a transaction" if inside else ""
        super().__init__(
            f"the schema is at version {have} and this code needs {need}; run: tenure migrate{why}"
        )


class CodeTooOld(StoreError):
    """This code is older than the schema allows."""

    code = "code_too_old"
    retryable = False

    def __init__(self, code_version: int, serves: int) -> None:
        super().__init__(
            f"the schema needs code of schema version {serves} or newer, and this code has version "
            f"{code_version}; upgrade tenure in this program"
        )


class DatabaseClosed(StoreError):
    """The database is closed: tenure move is filling it, or has moved it away."""

    code = "database_closed"
    retryable = False
