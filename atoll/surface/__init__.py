"""From Python text to a surface tree: finding the text (`source`), reading it (`parse`), its grammar (`syntax`), its names (`names`)."""
