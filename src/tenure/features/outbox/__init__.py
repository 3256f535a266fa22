"""Events in your transaction, one job for each subscriber; and messages that count once.

outbox = Outbox(app)
"""

from tenure.features.outbox.dispatch import NO_HANDLER, NoHandler
from tenure.features.outbox.event import Event
from tenure.features.outbox.inbox import Inbox
from tenure.features.outbox.outbox import Outbox, installed
from tenure.features.outbox.publish import EventRef
from tenure.features.outbox.settings import OutboxSettings
from tenure.features.outbox.subscription import Subscription
from tenure.features.outbox.view import OutboxEvent, Status, ViewFilter

__all__ = [
    "NO_HANDLER",
    "Event",
    "EventRef",
    "Inbox",
    "NoHandler",
    "Outbox",
    "OutboxEvent",
    "OutboxSettings",
    "Status",
    "Subscription",
    "ViewFilter",
    "installed",
]
