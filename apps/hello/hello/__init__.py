"""Hello: greets people by jobs, and remembers how often."""

from hello.feature import Greeting, Hello

__all__ = ["Greeting", "Hello"]
