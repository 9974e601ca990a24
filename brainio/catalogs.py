"""Catalogs: tables that say where stimulus sets and assemblies are stored."""

from brainscore_core.supported_data_standards.brainio.catalogs import Catalog

__all__ = ["Catalog"]
