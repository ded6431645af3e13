"""For every test: property tests have no deadline, since a busy machine would fail them for its own slowness."""

from hypothesis import settings

settings.register_profile("vgfc", deadline=None)
settings.load_profile("vgfc")
