"""The one place that builds everything: settings, wiring, command line."""
