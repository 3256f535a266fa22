"""The parts of a store (`tenure.stores.contract`) on a SQL database, one module for each."""
