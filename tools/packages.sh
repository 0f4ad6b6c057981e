# packages.sh: sourced by tools/run, tools/test and tools/bench. Checks that the packages a build needs are installed.
# shellcheck shell=bash

# need_packages GROUP...: installs the missing packages of tools/packages, or says what to do if it must not.
need_packages() {
    local here missing=() group package
    here=$(dirname "${BASH_SOURCE[0]}")
    while read -r group package; do
        case " $* " in *" $group "*) ;; *) continue ;; esac
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done < <(grep -v '^#' "$here/packages")
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "anyperf: cannot build: ${#missing[@]} Debian packages are missing, and only root can install them" >&2
        echo "  cause: not installed: ${missing[*]}" >&2
        echo "  fix:   sudo apt-get install ${missing[*]}" >&2
        return 125
    fi
    echo "installing ${#missing[@]} Debian packages: ${missing[*]}" >&2
    { DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >&2 </dev/null || {
        echo "anyperf: cannot install the Debian packages it is built with" >&2
        echo "  cause: apt-get failed, see its messages above" >&2
        echo "  fix:   apt-get install ${missing[*]}" >&2
        return 125
    }
}

# need_writable: checks that this user may write to the tree and to the builds in it.
need_writable() {
    local tree place
    tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    for place in "$tree" "$tree"/build*; do
        [ ! -e "$place" ] || [ -w "$place" ] && continue
        echo "anyperf: cannot build in $tree" >&2
        echo "  cause: uid $(id -u) may not write to $place, which belongs to $(stat -c %U "$place")" >&2
        echo "  fix:   clone it to a directory of your own, or run this as $(stat -c %U "$place")" >&2
        return 125
    done
}
