"""`tenure move`: everything of one database into another, ids and all.

Not a replica: the source stands still meanwhile, and is closed when the target has it all.
"""

from tenure.features.transfer.end import End, open_end
from tenure.features.transfer.feature import TransferFeature
from tenure.features.transfer.report import Report, TableReport
from tenure.features.transfer.transfer import Options, Transfer, reopen

__all__ = [
    "End",
    "Options",
    "Report",
    "TableReport",
    "Transfer",
    "TransferFeature",
    "open_end",
    "reopen",
]
