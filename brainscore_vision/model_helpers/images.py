"""Images as arrays or Pillow images; `brainscore_core` reads the files."""

from brainscore_core.supported_data_standards.brainio.images import load_contrast, load_grey, load_image, load_rgb

__all__ = ["load_contrast", "load_grey", "load_image", "load_rgb"]
