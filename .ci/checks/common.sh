# Sourced by each check: strict mode, the project's root as working directory, and lists of files.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export LC_ALL=C.UTF-8

libraries="base store sync client central"
code="include $libraries bridge cli examples tests bench"

# c_files <folder>…: the .c and .h files below these folders.
c_files() {
    find "$@" -name '*.[ch]' | sort
}

# text_files: everything that is written by hand.
text_files() {
    find . \( -path ./.git -o -path ./build \) -prune -o -type f ! -name LICENSE -print | sort
}

# stripped <file>…: "file<tab>line<tab>code" without comments and the contents of literals.
stripped() {
    awk -f .ci/checks/strip.awk "$@"
}

# none: passes findings on, and fails if there was one.
none() {
    ! grep '.'
}
