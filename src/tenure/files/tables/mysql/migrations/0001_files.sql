-- Files and their bytes: metadata, who refers to them, keys to delete, uploads under way.
-- serves: 1

CREATE TABLE IF NOT EXISTS tenure_blobs (
    sha256     VARCHAR(64) NOT NULL PRIMARY KEY,
    blob_key   VARCHAR(200) NOT NULL,
    size       BIGINT NOT NULL,
    touched_at BIGINT NOT NULL,
    UNIQUE KEY tenure_blobs_key (blob_key)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_files (
    id         VARCHAR(64) NOT NULL PRIMARY KEY,
    sha256     VARCHAR(64) NOT NULL,
    name       VARCHAR(255) NOT NULL,
    media_type VARCHAR(200) NOT NULL,
    size       BIGINT NOT NULL,
    tenant     VARCHAR(100) NOT NULL,
    owner      VARCHAR(200),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    doomed_at  BIGINT,
    KEY tenure_files_sha256 (sha256),
    KEY tenure_files_newest (created_at, id),
    KEY tenure_files_of_tenant (tenant, created_at, id),
    KEY tenure_files_expiring (expires_at),
    KEY tenure_files_doomed (doomed_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_file_refs (
    file_id     VARCHAR(64) NOT NULL,
    holder_kind VARCHAR(40) NOT NULL,
    holder_id   VARCHAR(200) NOT NULL,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (file_id, holder_kind, holder_id),
    KEY tenure_file_refs_holder (holder_kind, holder_id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_file_trash (
    blob_key VARCHAR(200) NOT NULL PRIMARY KEY,
    due_at   BIGINT NOT NULL,
    KEY tenure_file_trash_due (due_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

CREATE TABLE IF NOT EXISTS tenure_uploads (
    id           VARCHAR(64) NOT NULL PRIMARY KEY,
    name         VARCHAR(255) NOT NULL,
    media_type   VARCHAR(200) NOT NULL,
    tenant       VARCHAR(100) NOT NULL,
    owner        VARCHAR(200),
    length       BIGINT NOT NULL,
    received     BIGINT NOT NULL,
    writer       VARCHAR(64),
    locked_until BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    file_id      VARCHAR(64),
    KEY tenure_uploads_expiring (expires_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4
/*M! COLLATE=utf8mb4_nopad_bin */ /*!80017 COLLATE=utf8mb4_0900_bin */;

