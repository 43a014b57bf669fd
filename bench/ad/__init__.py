"""How much derivatives cost: `python -m bench.ad.run`."""
