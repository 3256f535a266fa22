-- Files and their bytes: metadata, who refers to them, keys to delete, uploads under way.
-- serves: 1

CREATE TABLE tenure_blobs (
    sha256     text COLLATE "C" NOT NULL PRIMARY KEY,
    blob_key   text COLLATE "C" NOT NULL,
    size       bigint NOT NULL,
    touched_at bigint NOT NULL
);

CREATE UNIQUE INDEX tenure_blobs_key ON tenure_blobs (blob_key);

CREATE TABLE tenure_files (
    id         text COLLATE "C" NOT NULL PRIMARY KEY,
    sha256     text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    media_type text COLLATE "C" NOT NULL,
    size       bigint NOT NULL,
    tenant     text COLLATE "C" NOT NULL,
    owner      text COLLATE "C",
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    doomed_at  bigint
);

CREATE INDEX tenure_files_sha256 ON tenure_files (sha256);

CREATE INDEX tenure_files_newest ON tenure_files (created_at, id);

CREATE INDEX tenure_files_of_tenant ON tenure_files (tenant, created_at, id);

CREATE INDEX tenure_files_expiring ON tenure_files (expires_at);

CREATE INDEX tenure_files_doomed ON tenure_files (doomed_at) WHERE doomed_at IS NOT NULL;

CREATE TABLE tenure_file_refs (
    file_id     text COLLATE "C" NOT NULL,
    holder_kind text COLLATE "C" NOT NULL,
    holder_id   text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    PRIMARY KEY (file_id, holder_kind, holder_id)
);

CREATE INDEX tenure_file_refs_holder ON tenure_file_refs (holder_kind, holder_id);

CREATE TABLE tenure_file_trash (
    blob_key text COLLATE "C" NOT NULL PRIMARY KEY,
    due_at   bigint NOT NULL
);

CREATE INDEX tenure_file_trash_due ON tenure_file_trash (due_at);

CREATE TABLE tenure_uploads (
    id           text COLLATE "C" NOT NULL PRIMARY KEY,
    name         text COLLATE "C" NOT NULL,
    media_type   text COLLATE "C" NOT NULL,
    tenant       text COLLATE "C" NOT NULL,
    owner        text COLLATE "C",
    length       bigint NOT NULL,
    received     bigint NOT NULL,
    writer       text COLLATE "C",
    locked_until bigint NOT NULL,
    created_at   bigint NOT NULL,
    expires_at   bigint NOT NULL,
    file_id      text COLLATE "C"
);

CREATE INDEX tenure_uploads_expiring ON tenure_uploads (expires_at);
