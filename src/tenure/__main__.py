"""`python -m tenure` is the command line."""

from tenure.cli import main

main()
