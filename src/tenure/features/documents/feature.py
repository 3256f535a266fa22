"""The feature `documents`: settings and metrics that document services share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenure.feature import Feature, read_settings
from tenure.features.documents.metrics import DocumentMetrics
from tenure.features.documents.settings import DocumentSettings
from tenure.jobs.handler_options import QueueSlots

if TYPE_CHECKING:
    from tenure.app import Tenure

PDF_QUEUE = "pdf"


class Documents(Feature):
    """PDFs have slots of their own, so that they never keep mails waiting."""

    name = "documents"
    settings_classes = (DocumentSettings,)

    def __init__(
        self, app: Tenure, *, settings: DocumentSettings | None = None, chosen: bool = True
    ) -> None:
        super().__init__(app)
        self.settings = settings or read_settings(DocumentSettings)
        counts = DocumentMetrics(self.settings.docgen_kinds)
        counts.listen(app.signals)
        self.metrics = (counts.duration, counts.failures)
        if chosen:
            self.slots = {PDF_QUEUE: QueueSlots(self.settings.pdf_render_concurrency)}
        app.include(self)


def installed(app: Tenure) -> Documents:
    """The entry point. An app that did not ask for it may have a queue `pdf` of its own, so the
    default number of slots is not forced on it; a variable that is set is.
    """
    settings = read_settings(DocumentSettings)
    return Documents(
        app, settings=settings, chosen="pdf_render_concurrency" in settings.model_fields_set
    )
