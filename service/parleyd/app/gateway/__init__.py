"""The gateway: Envoy in front of the service, so that every protocol is spoken on one port."""
