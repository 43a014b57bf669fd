"""What is known at every statement of a function: values of integers and conditions, in terms of what is not negative there. Nothing is rewritten here."""
