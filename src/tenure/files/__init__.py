"""Files that jobs, records and features refer to: content-addressed blobs with metadata.

`storage` keeps the bytes, in a folder or in S3. `files` keeps the rows,
`uploads` those of uploads under way, `purge` deletes what nobody needs. `links` signs downloads.
"""

from tenure.files.files import Files
from tenure.files.settings import FilesSettings
from tenure.files.stored_file import StoredFile

__all__ = ["Files", "FilesSettings", "StoredFile"]
