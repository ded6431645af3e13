"""Finding a Vulkan device that runs data graphs: one with the ML extensions, or any with Arm's emulation layers over it.

The loader reads its environment when the first instance is made, so `prepare` must run before that; it is called by
`vgfc.runtime.vulkan` and sets nothing when a device has the extensions itself.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vgfc.diagnostics import CompileError

REQUIRED = ("VK_ARM_tensors", "VK_ARM_data_graph")
LAYERS = ("Graph", "Tensor")  # the graph layer must be above the tensor layer
API_VERSION_1_3 = (1 << 22) | (3 << 12)


class VulkanUnavailableError(CompileError):
    """No Vulkan device can be had here; the message says what is missing."""


@dataclass(frozen=True)
class Device:
    """The device that programs run on; `emulated` when the ML extensions come from the emulation layers."""

    name: str
    emulated: bool


class _ApplicationInfo(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("application_name", ctypes.c_char_p),
        ("application_version", ctypes.c_uint32),
        ("engine_name", ctypes.c_char_p),
        ("engine_version", ctypes.c_uint32),
        ("api_version", ctypes.c_uint32),
    )


class _InstanceCreateInfo(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("application_info", ctypes.POINTER(_ApplicationInfo)),
        ("layer_count", ctypes.c_uint32),
        ("layers", ctypes.c_void_p),
        ("extension_count", ctypes.c_uint32),
        ("extensions", ctypes.c_void_p),
    )


class _ExtensionProperties(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char * 256), ("version", ctypes.c_uint32))


class _DeviceProperties(ctypes.Structure):
    # The fixed head of VkPhysicalDeviceProperties; the rest (limits) is only room.
    _fields_ = (
        ("api_version", ctypes.c_uint32),
        ("driver_version", ctypes.c_uint32),
        ("vendor", ctypes.c_uint32),
        ("device", ctypes.c_uint32),
        ("kind", ctypes.c_int),
        ("name", ctypes.c_char * 256),
        ("rest", ctypes.c_uint8 * 4096),
    )


def _devices() -> list[tuple[str, set[str]]]:
    """Name and extensions of each physical device, without any layer; raises VulkanUnavailableError without loader."""
    try:
        vulkan = ctypes.CDLL("libvulkan.so.1")
    except OSError:
        raise VulkanUnavailableError("no Vulkan loader is installed (Debian: apt-get install libvulkan1)") from None
    application = _ApplicationInfo(type=0, api_version=API_VERSION_1_3)
    info = _InstanceCreateInfo(type=1, application_info=ctypes.pointer(application))
    instance = ctypes.c_void_p()
    if vulkan.vkCreateInstance(ctypes.byref(info), None, ctypes.byref(instance)) != 0:
        raise VulkanUnavailableError("no Vulkan driver is installed (Debian: apt-get install mesa-vulkan-drivers)")
    try:
        count = ctypes.c_uint32()
        vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
        handles = (ctypes.c_void_p * count.value)()
        vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), handles)
        return [_describe(vulkan, ctypes.c_void_p(handle)) for handle in handles[: count.value]]
    finally:
        vulkan.vkDestroyInstance(instance, None)


def _describe(vulkan: ctypes.CDLL, device: ctypes.c_void_p) -> tuple[str, set[str]]:
    properties = _DeviceProperties()
    vulkan.vkGetPhysicalDeviceProperties(device, ctypes.byref(properties))
    count = ctypes.c_uint32()
    vulkan.vkEnumerateDeviceExtensionProperties(device, None, ctypes.byref(count), None)
    extensions = (_ExtensionProperties * count.value)()
    vulkan.vkEnumerateDeviceExtensionProperties(device, None, ctypes.byref(count), extensions)
    return properties.name.decode(), {extension.name.decode() for extension in extensions}


@functools.cache
def prepare() -> Device:
    """The device that will be used, with the loader's environment set up for it.

    Raises VulkanUnavailableError when there is no loader, no driver, or no emulation layer where one is needed.
    """
    devices = _devices()
    if not devices:
        raise VulkanUnavailableError("no Vulkan device was found (Debian: apt-get install mesa-vulkan-drivers)")
    for name, extensions in devices:
        if extensions.issuperset(REQUIRED):
            return Device(name, emulated=False)
    package = importlib.util.find_spec("emulation_layer")
    if package is None or package.origin is None:
        raise VulkanUnavailableError(
            f"device '{devices[0][0]}' has no {' and '.join(REQUIRED)}, and the emulation layer is not installed (extra: run)"
        )
    _enable_layers(Path(package.origin).parent / "deploy")
    return Device(devices[0][0], emulated=True)


def _enable_layers(deploy: Path) -> None:
    """Point the loader at the layers: it stacks them in the order in which it finds their manifests."""
    folder = Path(tempfile.mkdtemp(prefix="vgfc-layers-"))
    paths = []
    for position, layer in enumerate(LAYERS):
        source = deploy / "share" / "vulkan" / "explicit_layer.d" / f"VkLayer_{layer}.json"
        manifest = json.loads(source.read_text(encoding="utf-8"))
        manifest["layer"]["library_path"] = str(deploy / "lib" / manifest["layer"]["library_path"])
        place = folder / str(position)
        place.mkdir()
        (place / source.name).write_text(json.dumps(manifest), encoding="utf-8")
        paths.append(str(place))
    _prepend("VK_LAYER_PATH", paths)
    _prepend("VK_INSTANCE_LAYERS", [f"VK_LAYER_ML_{layer}_Emulation" for layer in LAYERS])


def _prepend(variable: str, values: list[str]) -> None:
    present = [value for value in os.environ.get(variable, "").split(os.pathsep) if value and value not in values]
    os.environ[variable] = os.pathsep.join([*values, *present])
