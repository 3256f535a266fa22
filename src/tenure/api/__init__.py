"""The HTTP API: a face of the engine for programs, the dashboard and operators."""
