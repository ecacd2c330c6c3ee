"""Tasks that come along, one a file; `post-train tasks list` names them."""
