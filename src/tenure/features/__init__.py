"""Features on top of the engine, each in a folder of its own."""
