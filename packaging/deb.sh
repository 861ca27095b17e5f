#!/bin/sh
# Builds a Debian package: packaging/deb.sh BUILT OUT. BUILT is the folder of the command, as make
# dist leaves it; the package goes to OUT, and so does the tree that it is made of.
set -eu
cd "$(dirname "$0")/.."
built=$1
out=$2
command -v dpkg-deb >/dev/null || { echo "dpkg-deb is missing" >&2; exit 1; }

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
architecture=$(dpkg --print-architecture)
tree=$out/deb
rm -rf "$tree"
mkdir -p "$tree/DEBIAN"
make --no-print-directory install-built BUILT="$built" DESTDIR="$tree" PREFIX=/usr >/dev/null

# Manual pages and the change log are compressed, as Debian's policy (12.1, 12.7) asks; gzip -n
# leaves out the time, so that the same source gives the same package.
gzip -9n "$tree"/usr/share/man/man1/*.1
doc=$tree/usr/share/doc/heddle
gzip -9nc "$doc/CHANGELOG.md" >"$doc/changelog.gz"
rm "$doc/CHANGELOG.md"
cat "$doc/LICENSE-MIT" >"$doc/copyright"
printf '\nOr, at your choice:\n\n' >>"$doc/copyright"
cat "$doc/LICENSE-APACHE" >>"$doc/copyright"
printf '\nThe command holds the font DejaVu Sans: https://dejavu-fonts.github.io/License.html\n' \
	>>"$doc/copyright"
rm "$doc/LICENSE-MIT" "$doc/LICENSE-APACHE"
# Debian keeps the completions for zsh elsewhere.
mkdir -p "$tree/usr/share/zsh/vendor-completions"
mv "$tree/usr/share/zsh/site-functions/_heddle" "$tree/usr/share/zsh/vendor-completions"
rmdir "$tree/usr/share/zsh/site-functions"

# The least version of the C library that the installed programs and libraries ask for.
glibc=$(find "$tree/usr/bin" "$tree/usr/lib" -type f -exec grep -aoh 'GLIBC_2\.[0-9]*' {} + |
    sed 's/GLIBC_//' | sort -Vu | tail -n 1)
cat >"$tree/DEBIAN/control" <<END
Package: heddle
Version: $version
Architecture: $architecture
Maintainer: The Heddle developers <heddle@localhost>
Installed-Size: $(du -sk --exclude=DEBIAN "$tree" | cut -f 1)
Depends: libc6${glibc:+ (>= $glibc)}
Recommends: gcc
Section: science
Priority: optional
Description: simulator of parallel programs on interconnects
 Heddle predicts how a parallel program behaves on an interconnect that may
 not exist yet: schedules, traces, patterns and unmodified MPI programs on
 measured parameters, SimGrid platforms, or topologies with routers, lanes
 and congestion control.
END
find "$tree" -type d -exec chmod 755 {} +
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
package=$out/heddle_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$tree" "$package" >/dev/null
echo "$package"
