"""What each command does once its words are parsed: it calls a room, prints what comes, and returns the exit status."""
