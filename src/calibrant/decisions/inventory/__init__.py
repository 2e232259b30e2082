"""Stock that spoils: plans of orders by dynamic programming, and what they earn on real demand."""
