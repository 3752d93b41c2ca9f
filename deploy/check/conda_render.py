"""Renders a Conda recipe, checks what conda-build needs of it, and prints the commands of its tests, one a line."""
import sys

import jinja2
import yaml

SECTIONS = {"package", "source", "build", "requirements", "test", "outputs", "about", "extra", "app"}


def main(path):
    with open(path) as f:
        template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(f.read())
    recipe = yaml.safe_load(template.render(compiler=lambda name: name + "_linux-64"))
    unknown = set(recipe) - SECTIONS
    if unknown:
        sys.exit(f"{path}: unknown sections: {sorted(unknown)}")
    if not all(recipe["package"].get(key) for key in ("name", "version")):
        sys.exit(f"{path}: a package has a name and a version")
    if not isinstance(recipe["build"]["number"], int):
        sys.exit(f"{path}: the build number is a number")
    if not recipe["about"].get("license") or not recipe["about"].get("license_file"):
        sys.exit(f"{path}: the licence is missing")
    for command in recipe["test"]["commands"]:
        if not isinstance(command, str) or "\n" in command:
            sys.exit(f"{path}: a test is a line: {command!r}")
        print(command)


if __name__ == "__main__":
    main(sys.argv[1])
