"""The six models as callables, for `vgf-compile benchmarks.zoo:cnn`."""

from functools import partial

from benchmarks.models import get

cnn = partial(get, "cnn")
mobilenet_v2 = partial(get, "mobilenet_v2")
resnet18 = partial(get, "resnet18")
nss_unet = partial(get, "nss_unet")
encoder = partial(get, "encoder")
convnext = partial(get, "convnext")
