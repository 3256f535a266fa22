"""Files that jobs, records and features refer to: content-addressed blobs with metadata.

`blobs` says what a place for bytes promises; `folder` and `s3` are two. `links` signs downloads,
`ranges` and `names` speak HTTP.
"""
