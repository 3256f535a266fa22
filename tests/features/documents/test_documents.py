"""Documents: their settings, the slots of the queue `pdf`, and what is counted."""

from __future__ import annotations

import pytest

from tenure import OptionError, Tenure
from tenure.features.documents import Documents, DocumentSettings


def slots(app: Tenure) -> dict[str, int]:
    return {queue: one.slots for queue, one in app.handlers.slots.items()}


def test_the_defaults_are_those_of_old() -> None:
    assert DocumentSettings().model_dump() == {"docgen_kinds": (), "pdf_render_concurrency": 2}


def test_a_value_out_of_bounds_is_named(app: Tenure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDF_RENDER_CONCURRENCY", "0")

    with pytest.raises(OptionError, match="PDF_RENDER_CONCURRENCY"):
        Documents(app)


def test_an_app_that_asks_for_it_renders_two_at_a_time(app: Tenure) -> None:
    Documents(app)

    assert slots(app)["pdf"] == 2


def test_the_queue_of_an_app_that_did_not_ask_is_its_own(app: Tenure) -> None:
    app.features.load()

    assert "pdf" not in slots(app)


def test_a_variable_that_is_set_holds_for_every_app(
    app: Tenure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PDF_RENDER_CONCURRENCY", "4")
    app.features.load()

    assert slots(app)["pdf"] == 4
