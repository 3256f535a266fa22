"""What commands share: options, output, errors.

These names are for the commands of features and apps too; the modules beside them are not.
"""

from tenure.cli.kit.durations import ago, plural, span
from tenure.cli.kit.engines import open_engine, open_existing
from tenure.cli.kit.options import AsJson, Database, Tenant, Yes
from tenure.cli.kit.output import note, show_facts, show_json, show_table

__all__ = [
    "AsJson",
    "Database",
    "Tenant",
    "Yes",
    "ago",
    "note",
    "open_engine",
    "open_existing",
    "plural",
    "show_facts",
    "show_json",
    "show_table",
    "span",
]
