"""The wire: servicers, authentication, errors."""
