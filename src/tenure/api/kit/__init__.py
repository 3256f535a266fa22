"""What routes share: identity, guards, shapes, problems.

These names are for the routes of features and apps too; the modules beside them are not.
"""

from tenure.api.kit.answers import may
from tenure.api.kit.cursors import seal, unseal
from tenure.api.kit.identity import Admin, Reader, SiteAdmin, SiteReader, Writer
from tenure.api.kit.service import Engine, Readable, Writable
from tenure.api.kit.shapes.shape import Input, Moment, Shape, When

__all__ = [
    "Admin",
    "Engine",
    "Input",
    "Moment",
    "Readable",
    "Reader",
    "Shape",
    "SiteAdmin",
    "SiteReader",
    "When",
    "Writable",
    "Writer",
    "may",
    "seal",
    "unseal",
]
