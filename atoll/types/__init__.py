"""Types as data: scalars, arrays, records, unions; they know sizes and errors, and nothing of programs."""
