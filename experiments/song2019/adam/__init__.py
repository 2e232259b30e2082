"""GP-Beta learned as the paper learns it: by Adam, on minibatches, with random draws."""
