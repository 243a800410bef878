"""What becomes of the names that imports bind: rules, scopes, placement, modules on disk."""
