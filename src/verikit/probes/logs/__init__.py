"""Logs of jobs and servers: what part is this run's, what it says, and what of that is the cause."""
