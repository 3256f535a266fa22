"""For those who test programs on Tenure, or write a store.

`ManualClock`, `on_temporary_database`, `run_until_idle`, `assert_enqueued`; pytest fixtures in
`tenure.testing.plugin`; the store suite in `tenure.testing.conformance`.
"""

from tenure.testing.clock import ManualClock
from tenure.testing.engine import (
    assert_enqueued,
    enqueued,
    on_temporary_database,
    run_until_idle,
)

__all__ = ["ManualClock", "assert_enqueued", "enqueued", "on_temporary_database", "run_until_idle"]
