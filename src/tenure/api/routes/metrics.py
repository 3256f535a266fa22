"""`/metrics`, for Prometheus: on this machine to anybody, elsewhere to who may read the site."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tenure.api.kit.answers import may
from tenure.api.kit.identity import MetricsReader
from tenure.api.kit.service import Serving

router = APIRouter(tags=["health"])
TEXTS = ("text/plain", "application/openmetrics-text")


@router.get(
    "/metrics",
    operation_id="getMetrics",
    response_class=Response,
    responses={
        200: {"content": {one: {"schema": {"type": "string"}} for one in TEXTS}},
        **may(401, 403),
    },
)
def get_metrics(caller: MetricsReader, service: Serving, request: Request) -> Response:
    """What happens in this process, and how much waits, as metrics."""
    body, content_type = service.metrics.exposition(request.headers.get("accept", ""))
    return Response(body, headers={"content-type": content_type})
