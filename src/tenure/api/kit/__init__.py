"""What routes share: identity, guards, shapes, problems.

These names are for the routes of features and apps too; the modules beside them are not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenure.api.kit.answers import may
    from tenure.api.kit.cursors import seal, unseal
    from tenure.api.kit.guards.head_requests import is_head
    from tenure.api.kit.guards.streamed import streamed
    from tenure.api.kit.identity import Admin, Reader, SiteAdmin, SiteReader, Writer
    from tenure.api.kit.service import Engine, Readable, Writable
    from tenure.api.kit.shapes.shape import Input, Moment, Shape, When

MODULES = {
    "answers": ("may",),
    "cursors": ("seal", "unseal"),
    "guards.head_requests": ("is_head",),
    "guards.streamed": ("streamed",),
    "identity": ("Admin", "Reader", "SiteAdmin", "SiteReader", "Writer"),
    "service": ("Engine", "Readable", "Writable"),
    "shapes.shape": ("Input", "Moment", "Shape", "When"),
}
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
    "is_head",
    "may",
    "seal",
    "streamed",
    "unseal",
]


def __getattr__(name: str) -> Any:
    # Loaded when it is used: most of them need FastAPI, and the command line, which prints the
    # shapes of this API, has to work without.
    for module, names in MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
