"""What a whole loop is known to compute, made in another way: scans, filters, histograms, the first best, any and all, sorts."""
