-- Files and their bytes: metadata, who refers to them, keys to delete, uploads under way.
-- serves: 1

CREATE TABLE tenure_blobs (
    sha256     TEXT    NOT NULL PRIMARY KEY,
    blob_key   TEXT    NOT NULL,
    size       INTEGER NOT NULL,
    touched_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE UNIQUE INDEX tenure_blobs_key ON tenure_blobs (blob_key);

CREATE TABLE tenure_files (
    id         TEXT    NOT NULL PRIMARY KEY,
    sha256     TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    media_type TEXT    NOT NULL,
    size       INTEGER NOT NULL,
    tenant     TEXT    NOT NULL,
    owner      TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    doomed_at  INTEGER
) WITHOUT ROWID;

CREATE INDEX tenure_files_sha256 ON tenure_files (sha256);

CREATE INDEX tenure_files_newest ON tenure_files (created_at, id);

CREATE INDEX tenure_files_of_tenant ON tenure_files (tenant, created_at, id);

CREATE INDEX tenure_files_expiring ON tenure_files (expires_at);

CREATE INDEX tenure_files_doomed ON tenure_files (doomed_at) WHERE doomed_at IS NOT NULL;

CREATE TABLE tenure_file_refs (
    file_id     TEXT    NOT NULL,
    holder_kind TEXT    NOT NULL,
    holder_id   TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (file_id, holder_kind, holder_id)
) WITHOUT ROWID;

CREATE INDEX tenure_file_refs_holder ON tenure_file_refs (holder_kind, holder_id);

CREATE TABLE tenure_file_trash (
    blob_key TEXT    NOT NULL PRIMARY KEY,
    due_at   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX tenure_file_trash_due ON tenure_file_trash (due_at);

CREATE TABLE tenure_uploads (
    id           TEXT    NOT NULL PRIMARY KEY,
    name         TEXT    NOT NULL,
    media_type   TEXT    NOT NULL,
    tenant       TEXT    NOT NULL,
    owner        TEXT,
    length       INTEGER NOT NULL,
    received     INTEGER NOT NULL,
    writer       TEXT,
    locked_until INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    file_id      TEXT
) WITHOUT ROWID;

CREATE INDEX tenure_uploads_expiring ON tenure_uploads (expires_at);
