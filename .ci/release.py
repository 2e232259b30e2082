"""Whether what would be released can be: `make release-check`. Builds the last commit, and writes it to dist/.

Wheel and sdist are built from two clones, of other names, times and permissions, and from the sdist: they must be the
same to the last bit. The wheel is then installed in clean environments, without and with extras; a program of somebody
else runs and has its types checked there.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
OUTSIDE = ROOT / ".ci" / "outside.py"
WRONG = 'from calibrant import Normal\n\nNormal("a", 1.0)\n'
TABLE = "mu,sigma,y\n" + "".join(f"{k % 7},1.0,{k % 7 + (k * 37 % 11 - 5) / 2}\n" for k in range(300))
COMMANDS = ("fit t.csv -o t.calibrant", "inspect t.calibrant", "apply t.calibrant t.csv --coverage 0.9 -o out.parquet",
            "evaluate t.csv", "report t.csv -o report.html")  # fmt: skip


def main() -> int:
    """All checks; the first that does not hold ends it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        builder = environment(folder / "builder", "hatchling")
        wheel, sdist = reproduced(folder, builder)
        contents(wheel, sdist)
        plain = environment(folder / "plain", str(wheel))
        alone(folder, plain)
        full = environment(folder / "full", f"{wheel}[app]", "mypy")
        with_extras(folder, full)
        (ROOT / "dist").mkdir(exist_ok=True)
        for path in (wheel, sdist):
            shutil.copyfile(path, ROOT / "dist" / path.name)
            print(f"{digest(path)}  dist/{path.name}")
    return 0


def run(*command: str | Path, at: Path = ROOT, code: int = 0, **variables: str) -> str:
    """Output of a command, which must end with this code."""
    kept = {name: os.environ[name] for name in os.environ if name not in ("PYTHONPATH", "SOURCE_DATE_EPOCH")}
    told = subprocess.run([str(part) for part in command], cwd=at, env=kept | variables, capture_output=True, text=True)
    if told.returncode != code:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {told.returncode}\n{told.stdout}{told.stderr}")
    return told.stdout + told.stderr


def environment(path: Path, *packages: str) -> Path:
    """The folder of programs of a fresh environment."""
    run(sys.executable, "-m", "venv", path)
    run(path / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile", *packages)
    return path / "bin"


def reproduced(folder: Path, builder: Path) -> tuple[Path, Path]:
    """Wheel and sdist, which three builds agree on; a time that is set from outside changes both clones alike."""
    clones = [cloned(folder / name) for name in ("one", "another-of-a-longer-name")]
    for path in clones[1].rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            path.chmod(0o600)
            os.utime(path, (1e9, 1e9))
    for variables in ({"SOURCE_DATE_EPOCH": "1700000000"}, {}):
        made = [built(clone, builder, **variables) for clone in clones]
        same(
            [[digest(path) for path in pair] for pair in made], f"two clones differ with {variables or 'no variables'}"
        )
    wheel, sdist = made[0]
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    unpacked = next((folder / "unpacked").iterdir())
    same([digest(wheel), digest(built(unpacked, builder)[0])], "the wheel of the sdist differs")
    print("wheel and sdist: the same bits from two clones, and from the sdist")
    return wheel, sdist


def cloned(path: Path) -> Path:
    """The last commit, in a new folder."""
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, path)
    return path


def built(tree: Path, builder: Path, **variables: str) -> tuple[Path, Path]:
    """Wheel and sdist of a tree."""
    run(builder / "python", "-m", "hatchling", "build", "--directory", tree / "dist", at=tree, **variables)
    return next((tree / "dist").glob("*.whl")), next((tree / "dist").glob("*.tar.gz"))


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def same(values: list[object], what: str) -> None:
    """End with a message unless all are equal."""
    if any(value != values[0] for value in values):
        raise SystemExit(f"{what}: {values}")


def contents(wheel: Path, sdist: Path) -> None:
    """One version everywhere, types and licence inside, no tests in the wheel."""
    versions = [wheel.name.split("-")[1], sdist.name.removesuffix(".tar.gz").split("-")[1]]
    versions += re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    same(list(versions), "versions differ")
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ("calibrant/py.typed", "licenses/LICENSE", "entry_points.txt"):
        if not any(name.endswith(wanted) for name in names):
            raise SystemExit(f"{wheel.name} has no {wanted}")
    rooms = {name.partition("/")[0] for name in names}
    if rooms != {"calibrant", f"calibrant-{versions[0]}.dist-info"}:
        raise SystemExit(f"{wheel.name} holds {rooms}")
    print(f"version {versions[0]}: {len(names)} files in the wheel")


def alone(folder: Path, programs: Path) -> None:
    """Without extras: the program runs, and the command says what it needs."""
    print("without extras:", run(programs / "python", "-I", OUTSIDE, at=folder).strip())
    said = run(programs / "calibrant", "--help", at=folder, code=2)
    if "pip install 'calibrant[app]'" not in said:
        raise SystemExit(f"calibrant --help without extras: {said}")


def with_extras(folder: Path, programs: Path) -> None:
    """With extras: the program runs, its types are right and a wrong one is seen, and commands work on a table."""
    print("with [app]:", run(programs / "python", "-I", OUTSIDE, at=folder).strip())
    print("mypy --strict:", run(programs / "mypy", "--strict", OUTSIDE, at=folder).strip())
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    said = run(programs / "mypy", "--strict", "wrong.py", at=folder, code=1)
    if "wrong.py:3: error" not in said:
        raise SystemExit(f"mypy --strict sees no error in a wrong use: {said}")
    (folder / "t.csv").write_text(TABLE, encoding="utf-8")
    for command in COMMANDS:
        run(programs / "calibrant", *command.split(), at=folder)
    print("commands:", ", ".join(command.split()[0] for command in COMMANDS))


if __name__ == "__main__":
    sys.exit(main())
