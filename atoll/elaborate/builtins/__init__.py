"""The names the language gives, by family; `names` is the table of all of them."""
