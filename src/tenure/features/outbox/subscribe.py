"""`@outbox.on(...)`: a function becomes a handler and a subscription."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict

from tenure.core.errors import OptionError
from tenure.core.rules.retry import RetryPolicy
from tenure.features.outbox.subscription import (
    Subscription,
    check_function,
    check_order,
    check_subscriber,
    kind_of,
)
from tenure.features.outbox.subscriptions import Subscriptions
from tenure.jobs.handler import Handler

if TYPE_CHECKING:
    from tenure.app import Tenure


class SubscriberOptions(TypedDict, total=False):
    """What may be said about a subscriber beside its queue and its retries."""

    ordered: bool
    on_failure: str
    timeout: float | None
    priority: int | None
    process: bool


HANDLER = ("timeout", "priority", "process")


def subscribe(
    app: Tenure,
    subscriptions: Subscriptions,
    name: tuple[str, str | None],
    queue: str,
    retry: RetryPolicy,
    options: SubscriberOptions,
) -> Callable[[Callable[..., Any]], Handler[Any]]:
    """Notes both; what is wrong with the options is said before there is a function.

    Without the name of a subscriber it is that of the function.
    """
    if unknown := options.keys() - SubscriberOptions.__optional_keys__:
        raise OptionError(f"a subscriber has no option {sorted(unknown)[0]!r}")
    type, given = name
    if given is not None:
        check_subscriber(given)
    ordered = options.get("ordered", False)
    rule = check_order(ordered, options.get("on_failure"))

    def register(function: Callable[..., Any]) -> Handler[Any]:
        check_function(function)
        subscriber = getattr(function, "__name__", "") if given is None else given
        check_subscriber(subscriber)
        subscriptions.check_free(type, subscriber)
        said: dict[str, Any] = {one: options[one] for one in HANDLER if one in options}  # type: ignore[literal-required]
        handler = app.job(kind_of(type, subscriber), queue=queue, retry=retry, **said)(function)
        subscriptions.declare(
            Subscription(
                type=type,
                subscriber=subscriber,
                queue=queue,
                priority=handler.options.priority,
                max_attempts=retry.attempts,
                ordered=ordered,
                on_failure=rule,
            )
        )
        return handler

    return register
