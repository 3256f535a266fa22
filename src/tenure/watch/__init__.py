"""Metrics, logs and traces: subscribers of an app's signals. Nothing here decides anything.

`metrics` and `logs` need the extra `service`, `traces` the extra `traces`; import them by name.
"""
