"""Rows of the table: medians, ratios, targets, verdicts."""

import dataclasses
import operator
import pathlib
import statistics
import tomllib

COMPARE = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


def load_targets():
    table = {}
    path = pathlib.Path(__file__).resolve().parent.parent / "targets.toml"
    for entry in tomllib.loads(path.read_text())["target"]:
        cases = entry["case"] if isinstance(entry["case"], list) else [entry["case"]]
        for case in cases:
            table[entry["name"], case] = entry
    return table


TARGETS = load_targets()


def show(value):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


@dataclasses.dataclass
class Row:
    name: str
    case: str
    values: list                     # one for each turn; empty: there is none
    unit: str
    reference: str = "-"
    reference_values: list = dataclasses.field(default_factory=list)
    speed: bool = False              # the ratio is how often faster than the reference, not how often longer
    missing: str = "not available"   # what is shown where there is no value
    peer: bool = False               # no target applies
    failed: bool = False             # short, whatever the target

    def ratios(self):
        """Turn by turn, each with the reference of the same turn."""
        pairs = [(v, r) for v, r in zip(self.values, self.reference_values) if v and r]
        return [r / v if self.speed else v / r for v, r in pairs]

    def median(self, values):
        return statistics.median(values) if values else None

    def target(self):
        return None if self.peer else TARGETS.get((self.name, self.case))

    def verdict(self):
        target = self.target()
        if self.failed:
            return "short"
        if target is None:
            return "info"
        measured = self.median(self.ratios() if target["of"] == "ratio" else self.values)
        sign, limit = target["limit"].split()
        return "ok" if measured is not None and COMPARE[sign](measured, float(limit)) else "short"

    def target_text(self):
        target = self.target()
        if target is None:
            return "-"
        return target["limit"] + ("x" if target["of"] == "ratio" else f" {self.unit}")

    def line(self):
        value = self.median(self.values)
        reference = show(self.median(self.reference_values))
        ratio = show(self.median(self.ratios()))
        shown = self.missing if value is None else show(value)
        cells = (self.name, self.case, shown, self.unit, self.reference, reference, ratio)
        return "\t".join((*cells, self.target_text(), self.verdict()))

    def as_json(self):
        def spread(values):
            if not values:
                return None
            return {"median": self.median(values), "min": min(values), "max": max(values), "all": values}

        return {
            "name": self.name,
            "case": self.case,
            "value": spread(self.values) or self.missing,
            "unit": self.unit,
            "reference": self.reference,
            "reference_value": spread(self.reference_values),
            "ratio": spread(self.ratios()),
            "target": self.target_text(),
            "verdict": self.verdict(),
        }
