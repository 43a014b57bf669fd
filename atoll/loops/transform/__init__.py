"""What rewrites of loops are made of: copies, walks, cuts of a range; each says what makes it right and looks for it itself."""
