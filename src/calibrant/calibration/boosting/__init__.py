"""Growing boosted trees beside forecasts, whatever the likelihood."""
