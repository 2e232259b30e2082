"""Laws with a few parameters each."""
