"""What routes share: identity, guards, shapes, problems."""
