"""Layer 1: plain data and pure rules. No clock, no database, no log; standard library only."""
