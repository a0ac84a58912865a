"""What people read: console, Markdown, JSON, CSV and JUnit, all of them from result lines only."""
