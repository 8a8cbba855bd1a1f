"""Many visitors at once, over real web sockets on the loopback address; a command, not a test."""
