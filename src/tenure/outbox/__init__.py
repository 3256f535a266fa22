"""Events in your transaction, one job for each subscriber; and messages that count once.

outbox = Outbox(app)
app.include(outbox)
"""

from tenure.outbox.dispatch import NO_HANDLER, NoHandler
from tenure.outbox.event import Event
from tenure.outbox.inbox import Inbox
from tenure.outbox.outbox import Outbox
from tenure.outbox.publish import EventRef
from tenure.outbox.settings import OutboxSettings
from tenure.outbox.subscription import Subscription
from tenure.outbox.view import OutboxEvent, Status, ViewFilter

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
]
