"""Places for the bytes of files: a folder, or S3."""
