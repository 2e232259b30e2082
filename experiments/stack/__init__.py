"""The stack: does it help on real data, does it leave right forecasts alone, and how long does it take?"""
