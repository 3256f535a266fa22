"""What a feature does wrong."""

from __future__ import annotations

from tenure.core.errors import InputError


class FeatureError(InputError):
    """A feature cannot be used as it is."""

    code = "bad_feature"
