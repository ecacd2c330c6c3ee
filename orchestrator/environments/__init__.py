"""The parts of backend environments: locks, the cache folder, package sources, installers, a look inside."""
