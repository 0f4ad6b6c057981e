#!/usr/bin/env python3
"""The pages for readers are true: README.md, CONTRIBUTING.md, CHANGELOG.md and docs/.

pages_test.py ANYPERF
- Each relative link leads to a file, and its #anchor to a heading there.
- Each path in backticks of docs/where.md and docs/glossary.md exists; so does each of the pages about folders of src/ (OF_FOLDERS).
  X and VERB in a path stand for a name.
- Each function, type or constant in backticks of where.md and glossary.md occurs in a file that its row or paragraph names; a file name without
  a folder is that of a file beside one of them.
- Each transcript `$ anyperf … --root tests/…` is what the program prints; "..." alone on a line matches any lines."""
import re
import sys
from pathlib import Path

import transcript

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted((ROOT / "docs").glob("*.md"))
OF_PATHS = [ROOT / "docs/where.md", ROOT / "docs/glossary.md"]
# Pages whose paths begin at a folder below the root, which the page says.
OF_FOLDERS = {"architecture.md": ("src",), "engine.md": ("src/engine", "src"), "subsystem.md": ("src/subsystem", "src")}
PATH = re.compile(r"[\w.-]+/[\w./*-]*")
FILE_NAME = re.compile(r"[\w*-]+\.(?:cpp|h|py|S|js|tsv|txt|scd)")
CODE_NAME = re.compile(r"(?:\w+::)*([A-Za-z_]\w*)(?:\(\))?")


def without_code_blocks(page):
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)


def anchors(page):
    """The anchors of the headings, as GitHub makes them: lower case, without punctuation, numbered if they repeat."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_code_blocks(page), re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        base = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(base if base not in found else next(f"{base}-{n}" for n in range(1, 1000) if f"{base}-{n}" not in found))
    return found


def dead_links(page):
    faults = []
    for path, anchor in re.findall(r"\]\(([^)\s#:]*)(?:#([^)\s]*))?\)", without_code_blocks(page)):
        target = page.parent / path if path else page
        if not target.exists():
            faults.append(f"{page.name}: the link {path} leads nowhere")
        elif anchor and anchor not in anchors(target):
            faults.append(f"{page.name}: {path or page.name} has no heading #{anchor}")
    return faults


def exists(path, folders):
    """Whether the path, or a file with this name and any extension, is in one of the folders or below the root."""
    places = [ROOT, *(ROOT / folder for folder in folders)]
    return any((place / path).exists() or any(place.glob(path.rstrip("/") + ".*")) for place in places)


def absent_paths(page, folders=()):
    paths = {path for path in re.findall(r"`([\w.-]+/[\w./-]*)`", page.read_text()) if not re.search(r"\b(X|VERB)\b", path)}
    return [f"{page.name}: there is no {path}" for path in sorted(paths) if not exists(path, folders)]


def paragraphs(page):
    """The rows of tables, the items of lists and the paragraphs, each as one text."""
    return re.split(r"\n(?=\||- |\n|#)", page.read_text())


def words_of(paths):
    """The words of the files, and of the files directly in the folders."""
    files = [file for path in paths for file in ([path] if path.is_file() else path.iterdir() if path.is_dir() else [])]
    return {word for file in files if file.is_file() for word in re.findall(r"\w+", file.read_text(errors="replace"))}


def absent_names(page):
    faults = []
    for paragraph in paragraphs(page):
        tokens = re.findall(r"`([^`\s]+)`", paragraph)
        paths = [ROOT / token for token in tokens if PATH.fullmatch(token)]
        if not paths:
            continue
        words = words_of(paths)
        for token in tokens:
            if FILE_NAME.fullmatch(token):
                folders = {path if path.is_dir() else path.parent for path in paths}
                if "VERB" not in token and not any(any(folder.glob(token)) for folder in folders):
                    faults.append(f"{page.name}: no folder named beside it has {token}")
            elif (name := CODE_NAME.fullmatch(token)) and name[1] not in words:
                faults.append(f"{page.name}: no file named beside it has {token}")
    return faults


def wrong_transcripts(page, program):
    faults = []
    for block in re.findall(r"^```\n(\$ anyperf [^\n]* --root tests/.*?)^```$", page.read_text(), re.M | re.S):
        for command, expected in transcript.commands(block)[1]:
            if not transcript.matches(expected, transcript.actual(command, program)):
                faults.append(f"{page.name}: not what this prints: {command}")
    return faults


def main():
    program = Path(sys.argv[1]).resolve()
    faults = [fault for page in PAGES for fault in dead_links(page) + wrong_transcripts(page, program)]
    faults += [fault for page in OF_PATHS for fault in absent_paths(page) + absent_names(page)]
    faults += [fault for page in PAGES if page.name in OF_FOLDERS for fault in absent_paths(page, OF_FOLDERS[page.name])]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
