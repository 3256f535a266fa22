"""What goes in and out as JSON: pydantic models with the field names of the wire (camelCase)."""
