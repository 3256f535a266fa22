"""Write a feature: everything that its author needs, gathered here.

`tenure.api.kit` and `tenure.cli.kit` have the names for routes and commands; they need the extra
`service` and typer, so import them inside `routers()` and `commands()`, or in modules of their own.
"""

from tenure.core.endings import EndedJob
from tenure.feature.feature import Feature, FeatureError, Includable, Problem, Runner, Screen
from tenure.feature.finding import Finding, Level
from tenure.feature.installed import GROUP, Features
from tenure.feature.metrics import Counter, Durations, Family, Gauge, Metric, Sort
from tenure.feature.published import PublishedEvent, PublishHook
from tenure.feature.sentence import Facts, Sentence, Telling
from tenure.feature.settings import read_settings
from tenure.feature.sql import FeatureSql
from tenure.stores.sql.statement import Batch, Plan

__all__ = [
    "GROUP",
    "Batch",
    "Counter",
    "Durations",
    "EndedJob",
    "Facts",
    "Family",
    "Feature",
    "FeatureError",
    "FeatureSql",
    "Features",
    "Finding",
    "Gauge",
    "Includable",
    "Level",
    "Metric",
    "Plan",
    "Problem",
    "PublishHook",
    "PublishedEvent",
    "Runner",
    "Screen",
    "Sentence",
    "Sort",
    "Telling",
    "read_settings",
]
