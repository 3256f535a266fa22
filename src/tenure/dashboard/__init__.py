"""The page at `/`: plain files that draw what the public API says. No route of its own reads jobs.

`install_page(api)` adds it to an API.
"""

from tenure.dashboard.page import install_page, sample_jobs

__all__ = ["install_page", "sample_jobs"]
