-- Queries of files. Times are microseconds of the database's clock.

-- fragment: file
-- A file, in the order of `FileRow`.
id, sha256, name, media_type, size, tenant, owner, created_at, expires_at

-- fragment: upload
-- An upload, in the order of `UploadRow`.
id, name, media_type, tenant, owner, length, received, expires_at, file_id

-- name: touch_blob
-- Keep this content under this key, or find the key that it has. The row is ours until the commit, so that no purge
-- takes it away before a file refers to it.
INSERT INTO tenure_blobs (sha256, blob_key, size, touched_at)
VALUES (:sha256::text, :blob_key::text, :size::bigint, {now})
ON CONFLICT (sha256) DO UPDATE SET touched_at = excluded.touched_at
RETURNING blob_key

-- name: find_blob
-- The key of a content that is known.
SELECT blob_key FROM tenure_blobs WHERE sha256 = :sha256::text

-- name: replace_blob
-- The bytes under the old key are lost: these take their place.
UPDATE tenure_blobs SET blob_key = :blob_key::text WHERE sha256 = :sha256::text

-- name: add_file
-- A name for a content. The blob is locked by touch_blob in the same transaction.
INSERT INTO tenure_files (id, sha256, name, media_type, size, tenant, owner, created_at, expires_at)
VALUES (:id::text, :sha256::text, :name::text, :media_type::text, :size::bigint, :tenant::text, :owner::text,
    {now}, {now} + :keep::bigint)

-- name: get_file
-- With the key of its bytes.
SELECT f.id, f.sha256, f.name, f.media_type, f.size, f.tenant, f.owner, f.created_at, f.expires_at, b.blob_key
FROM tenure_files f JOIN tenure_blobs b ON b.sha256 = f.sha256 WHERE f.id = :id::text AND f.doomed_at IS NULL

-- name: list_files
-- Newest first, from behind a cursor.
SELECT {file} FROM tenure_files WHERE (created_at, id) < (:created_at::bigint, :after::text)
    AND doomed_at IS NULL AND (:owner::text IS NULL OR owner = :owner::text)
ORDER BY created_at DESC, id DESC LIMIT :limit::bigint

-- name: list_files_of_tenant
-- The same of one tenant.
SELECT {file} FROM tenure_files WHERE tenant = :tenant::text AND (created_at, id) < (:created_at::bigint, :after::text)
    AND doomed_at IS NULL AND (:owner::text IS NULL OR owner = :owner::text)
ORDER BY created_at DESC, id DESC LIMIT :limit::bigint

-- name: lock_file
-- Whether it is there; it stays until the commit.
SELECT id FROM tenure_files WHERE id = :id::text FOR UPDATE

-- name: revive_file
-- Somebody refers to it: a purge that has marked it leaves it alone.
UPDATE tenure_files SET doomed_at = NULL WHERE id = :id::text

-- name: add_ref
-- The same reference again changes nothing.
INSERT INTO tenure_file_refs (file_id, holder_kind, holder_id, created_at)
VALUES (:file_id::text, :holder_kind::text, :holder_id::text, {now})
ON CONFLICT DO NOTHING

-- name: drop_ref
-- One reference.
DELETE FROM tenure_file_refs
WHERE file_id = :file_id::text AND holder_kind = :holder_kind::text AND holder_id = :holder_id::text

-- name: drop_refs_of
-- All references of holders that are gone.
DELETE FROM tenure_file_refs WHERE holder_kind = :holder_kind::text AND holder_id = ANY(:holders::text[])

-- name: refs_of
-- Who refers to a file.
SELECT holder_kind, holder_id FROM tenure_file_refs WHERE file_id = :file_id::text ORDER BY holder_kind, holder_id

-- name: expired_files
-- Files whose time is over, and whether somebody refers to them.
SELECT f.id, CASE WHEN EXISTS (SELECT 1 FROM tenure_file_refs r WHERE r.file_id = f.id) THEN 1 ELSE 0 END FROM tenure_files f
WHERE f.expires_at <= {now} AND f.doomed_at IS NULL ORDER BY f.expires_at LIMIT :limit::bigint FOR UPDATE OF f SKIP LOCKED

-- name: postpone_files
-- Referred to: looked at again later.
UPDATE tenure_files SET expires_at = {now} + :keep::bigint WHERE id = ANY(:file_ids::text[])

-- name: doom_files
-- First phase: marked. A reference that comes takes the mark away.
UPDATE tenure_files SET doomed_at = {now} WHERE id = ANY(:file_ids::text[]) AND doomed_at IS NULL

-- name: doomed_files
-- Second phase, after the grace: those that are still marked, locked against references.
SELECT id, sha256 FROM tenure_files WHERE doomed_at <= {now} - :grace::bigint
ORDER BY doomed_at LIMIT :limit::bigint FOR UPDATE SKIP LOCKED

-- name: referred_files
-- Which of these somebody refers to. A statement of its own, so that it sees what was committed before the lock.
SELECT DISTINCT file_id FROM tenure_file_refs WHERE file_id = ANY(:file_ids::text[])

-- name: revive_files
-- They were referred to after the mark.
UPDATE tenure_files SET doomed_at = NULL WHERE id = ANY(:file_ids::text[])

-- name: delete_files
-- Locked and unreferred.
DELETE FROM tenure_files WHERE id = ANY(:file_ids::text[])

-- name: lock_blobs
-- The contents of deleted files, locked against uploads of the same content.
SELECT sha256, blob_key FROM tenure_blobs WHERE sha256 = ANY(:hashes::text[]) ORDER BY sha256 FOR UPDATE

-- name: named_blobs
-- Which of these contents some file still has.
SELECT DISTINCT sha256 FROM tenure_files WHERE sha256 = ANY(:hashes::text[])

-- name: delete_blobs
-- Nobody can refer to them any more: a new upload gets a new key.
DELETE FROM tenure_blobs WHERE sha256 = ANY(:hashes::text[])

-- name: untrash_key
-- A file gets these bytes, if nobody has taken them to be deleted.
DELETE FROM tenure_file_trash WHERE blob_key = :blob_key::text AND due_at >= 0
RETURNING blob_key

-- name: trash_keys
-- Bytes to delete once no download can be reading them.
INSERT INTO tenure_file_trash (blob_key, due_at)
VALUES (:blob_key::text, {now} + :grace::bigint)
ON CONFLICT DO NOTHING

-- name: due_trash
-- Keys whose bytes may go now; those that a crash left taken are among them.
SELECT blob_key FROM tenure_file_trash WHERE due_at <= {now} ORDER BY due_at LIMIT :limit::bigint FOR UPDATE SKIP LOCKED

-- name: take_trash
-- Their bytes are about to go: from here on nobody takes these keys back.
UPDATE tenure_file_trash SET due_at = -1 WHERE blob_key = ANY(:keys::text[])

-- name: drop_trash
-- Their bytes are gone.
DELETE FROM tenure_file_trash WHERE blob_key = ANY(:keys::text[])

-- name: known_keys
-- Which of these keys some row knows; bytes under any other key were left by a crash.
SELECT blob_key FROM tenure_blobs WHERE blob_key = ANY(:keys::text[])
UNION SELECT blob_key FROM tenure_file_trash WHERE blob_key = ANY(:keys::text[])

-- name: add_upload
-- Nothing has been received yet.
INSERT INTO tenure_uploads (id, name, media_type, tenant, owner, length, received, writer, locked_until, created_at,
    expires_at, file_id)
VALUES (:id::text, :name::text, :media_type::text, :tenant::text, :owner::text, :length::bigint, 0, NULL, 0, {now},
    {now} + :keep::bigint, NULL)

-- name: get_upload
-- As it is now.
SELECT {upload} FROM tenure_uploads WHERE id = :id::text

-- name: lock_upload
-- One request at a time may append; the lock is a lease, which is renewed while bytes come.
UPDATE tenure_uploads SET writer = :writer::text, locked_until = {now} + :lease::bigint
WHERE id = :id::text AND (locked_until <= {now} OR writer = :writer::text)
RETURNING id

-- name: unlock_upload
-- What the storage has now; only by the request that holds the lock.
UPDATE tenure_uploads SET received = :received::bigint, writer = NULL, locked_until = 0,
    expires_at = {now} + :keep::bigint
WHERE id = :id::text AND writer = :writer::text
RETURNING id

-- name: end_upload
-- It has become a file.
UPDATE tenure_uploads SET file_id = :file_id::text, received = length, writer = NULL, locked_until = 0 WHERE id = :id::text

-- name: expired_uploads
-- Abandoned, or long finished.
SELECT id FROM tenure_uploads WHERE expires_at <= {now} AND locked_until <= {now}
ORDER BY expires_at LIMIT :limit::bigint

-- name: known_uploads
-- Which of these uploads have a row.
SELECT id FROM tenure_uploads WHERE id = ANY(:upload_ids::text[])

-- name: remove_uploads
-- Their parts are gone.
DELETE FROM tenure_uploads WHERE id = ANY(:upload_ids::text[])
