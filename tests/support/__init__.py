"""What several tests share: real servers, started for one test run and gone with it."""
