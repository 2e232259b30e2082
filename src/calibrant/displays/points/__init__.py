"""Pictures of point predictions."""
