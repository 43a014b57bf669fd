"""What people look at: facts about a file for editors and pages, the language server, the explorer, pictures and pages of notebooks."""
