# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# For scenarios: . /usr/lib/testbed/lib.sh

# result NAME VALUE: one line that the caller of `run` can parse
result() {
	echo "@@ $1 $2"
}

# until_line FILE PATTERN: waits until a line of the file matches
until_line() {
	until grep -q "$2" "$1" 2>/dev/null; do
		sleep 0.05
	done
}

# small_disk MB DIRECTORY: a file system that is soon full
small_disk() {
	mkdir -p "$2"
	mount -t tmpfs -o "size=$1m" small "$2"
}

# as_ordinary COMMAND: one line of shell, as a user who is not root
as_ordinary() {
	setpriv --reuid=ordinary --regid=ordinary --clear-groups sh -c "$1"
}
