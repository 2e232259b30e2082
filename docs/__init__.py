"""Pages about the library, and what makes them."""
