"""The loop language: grammar (`ir`), printer (`show`), checked executor (`execute`)."""
