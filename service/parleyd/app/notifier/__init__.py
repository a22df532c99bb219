"""The notifier's ways out: the webhook, its settings, and the commands for what was not taken."""
