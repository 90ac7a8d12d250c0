"""Recipes and compatibility rows as values. Data, not code: everything a platform needs is stated here.

Loading with file:line errors lives in `load`, the step graph in `dag`, the judgement of rows in `rows`.
"""

from __future__ import annotations

from typing import Any, Literal

from packaging.specifiers import SpecifierSet
from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "AcceleratorSpec",
    "Constraint",
    "EnvironmentSpec",
    "Exclusion",
    "ExclusiveFamily",
    "ExpectedConflict",
    "ForeignPattern",
    "IndexSpec",
    "KnownBad",
    "Override",
    "PackageSpec",
    "Recipe",
    "Row",
    "StepSpec",
]

Status = Literal["verified", "published", "unverified"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Row(_Model):
    """One row of a compatibility matrix: versions that belong together, and who says so.

    `components` maps a component (a Python distribution in canonical spelling, or `driver`, `firmware`, `cann`, `nnal`,
    `hdk`) to a version, a list of versions or a specifier. Empty `python` or `arches` means "not stated".
    `python_resolved` lists interpreters whose closure was solved beyond what was measured. `glibc` is a minimum.
    `line` is the line of SDK versions that the source names in whole (`9.0` where it says 9.0.X).
    """

    platform: str
    id: str
    components: dict[str, str | list[str]]
    python: list[str] = Field(default_factory=list)
    arches: list[str] = Field(default_factory=list)
    source: str
    date: str
    status: Status
    glibc: str | None = None
    relation: Literal["compatible", "matched", "observed"] | None = None
    note: str | None = None
    python_resolved: list[str] = Field(default_factory=list)
    line: str | None = None

    def version_of(self, component: str) -> str | None:
        """Return the single version of a component, or None when absent or given as a list."""
        value = self.components.get(component)
        return value if isinstance(value, str) else None


class AcceleratorSpec(_Model):
    """Which chips the recipe is for: `vendor`, `family`, and model names as the vendor tool prints them."""

    vendor: str
    family: str
    models: list[str]


class IndexSpec(_Model):
    """A named index: `url` is None for `default` (configuration decides). `note` says what is known of its reach."""

    url: str | None = None
    layout: Literal["simple", "flat"] = "simple"
    note: str | None = None


class PackageSpec(_Model):
    """A distribution of the accelerator-bound set.

    `index` names the single index it may come from, or one per arch. `local` is the local version label that its build
    must carry, per arch (`{x86_64: cpu}`); an arch that is not listed carries none. `role` groups it for steps.
    `alternatives` are versions that exist elsewhere but violate the row, each with the reason (offered, never taken).
    """

    role: Literal["torch-family", "torch-plugin", "serving", "plugin", "fork", "runtime"]
    index: str | dict[str, str] = "default"
    local: dict[str, str] = Field(default_factory=dict)
    optional: bool = False
    alternatives: dict[str, str] = Field(default_factory=dict)
    version_index: dict[str, str] = Field(default_factory=dict)

    def index_for(self, arch: str, version: str | None = None) -> str:
        """Return the name of the one index this distribution must come from.

        `version_index` maps specifiers to indexes, for a distribution that moved: the first that holds `version` wins.
        """
        if version is not None:
            for specifier, index in self.version_index.items():
                if SpecifierSet(specifier).contains(version, prereleases=True):
                    return index
        return self.index if isinstance(self.index, str) else self.index.get(arch, "default")


class Constraint(_Model):
    """A bound of the recipe's own on an ordinary package (PEP 508), with the reason; `when_*` as in `Override`."""

    requirement: str
    reason: str
    when_package: str | None = None
    when_version: str | None = None


class Override(_Model):
    """A requirement that replaces everybody's, for rows whose `when_package` version matches `when_version`."""

    requirement: str
    reason: str
    when_package: str | None = None
    when_version: str | None = None


class Exclusion(_Model):
    """A distribution that is left out of the solve on purpose, with the reason people are shown."""

    name: str
    reason: str


class ForeignPattern(_Model):
    """A shell pattern of distribution names whose payload is foreign to the platform (`nvidia-*`)."""

    pattern: str
    reason: str


class ExclusiveFamily(_Model):
    """Distributions that provide the same import module; only `provider` may be present (None: none of them)."""

    module: str
    provider: str | None
    members: list[str]
    reason: str


class ExpectedConflict(_Model):
    """A conflict that metadata checkers will report and that is right here. `requires` is a bare canonical name."""

    package: str
    requires: str
    reason: str


class KnownBad(_Model):
    """A combination known not to work."""

    what: str
    why: str
    source: str | None = None


class EnvironmentSpec(_Model):
    """Vendor environment scripts to source, in order, and plain variables.

    Each script is a list of alternatives (newest layout first); the first that exists is used.
    """

    scripts: list[list[str]] = Field(default_factory=list)
    variables: dict[str, str] = Field(default_factory=dict)
    visible_devices: str | None = None


class StepSpec(_Model):
    """One node of the recipe's graph.

    Attributes:
        id, kind, title: identity, the executor's step kind, a line for people.
        needs: ids that must come before.
        scopes: the plan scopes the step is part of.
        layer: for system layers, the field of `layers` facts that shows it (`driver`, `firmware`, `sdk`, `ops`, `nnal`).
        component: the row component that gives its version (`cann` for the toolkit and ops, `hdk` via rows for driver).
        packages: accelerator-bound distributions the step installs (of those the row names).
        closure: whether the step also installs the solved ordinary closure.
        protects: names or `*` (all that this step installs) that later steps must not move.
        params: settings of the step kind (artifact name patterns, options, sizes in bytes, scripts).
    """

    id: str
    kind: str
    title: str
    needs: list[str] = Field(default_factory=list)
    scopes: list[Literal["host", "container", "python"]] = Field(default=["host", "container", "python"])
    layer: str | None = None
    component: str | None = None
    packages: list[str] = Field(default_factory=list)
    closure: bool = False
    protects: list[str] = Field(default_factory=list)
    optional: bool = False
    params: dict[str, Any] = Field(default_factory=dict)


class Recipe(_Model):
    """A whole stack for one platform.

    `rows_platform` selects the compatibility rows; `serving` is the distribution whose release orders them (None: the
    recipe brings its own `rows`). `requirements` are the roots of the closure: distribution names whose version comes
    from the row, or PEP 508 requirements. `layer_components` maps a layer to the row component that fixes its version.
    """

    schema_version: int = Field(1, alias="schema")
    name: str
    title: str
    platform: str
    accelerator: AcceleratorSpec | None = None
    serving: str | None = None
    default_row: str | None = None
    requirements: list[str]
    indexes: dict[str, IndexSpec] = Field(default_factory=dict)
    packages: dict[str, PackageSpec]
    constraints: list[Constraint] = Field(default_factory=list)
    overrides: list[Override] = Field(default_factory=list)
    excluded: list[Exclusion] = Field(default_factory=list)
    foreign: list[ForeignPattern] = Field(default_factory=list)
    exclusive: list[ExclusiveFamily] = Field(default_factory=list)
    expected_conflicts: list[ExpectedConflict] = Field(default_factory=list)
    known_bad: list[KnownBad] = Field(default_factory=list)
    environment: EnvironmentSpec = Field(default_factory=EnvironmentSpec)
    steps: list[StepSpec]
    rows: list[Row] = Field(default_factory=list)
    sources: list[str] = Field(default_factory=list)

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
