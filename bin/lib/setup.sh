# Sourced by the launchers. Brings the machine to the point where "$node" runs Sallyport's code; every step that has
# nothing to do costs next to nothing, so that a second start is quick. $root is the repository.

. "$root/bin/lib/needs.sh"
. "$root/bin/lib/node.sh"
# Debian keeps haproxy in /usr/sbin, which is not on an ordinary user's path.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
export PATH

# On stderr, so that what a command prints can be passed on.
say() { printf 'sallyport: %s\n' "$*" >&2; }

fail() {
  printf 'sallyport: %s\n' "$*" >&2
  exit 1
}

# is_there PROBE: the command exists, or a path matches.
is_there() {
  case $1 in
    # Unquoted on purpose: the probe may be a glob.
    # shellcheck disable=SC2086
    /*) ls -d $1 >/dev/null 2>&1 ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

# missing_packages NEEDS: prints the packages whose probe is not there.
missing_packages() {
  printf '%s\n' "$1" | while read -r probe package; do
    if [ -n "$probe" ] && ! is_there "$probe"; then printf '%s ' "$package"; fi
  done
}

# install_packages PACKAGES: from Debian, as root or by sudo; says what to install when it may not.
install_packages() {
  command -v apt-get >/dev/null 2>&1 || fail "please install: $1(this is not a Debian system, so it can't be done for you)"
  if [ "$(id -u)" = 0 ]; then
    become=''
  elif ! command -v sudo >/dev/null 2>&1; then
    fail "this needs root; please run: apt-get install $1"
  elif [ -t 0 ]; then
    become=sudo
  else
    become='sudo -n'
  fi
  say "installing from Debian: $1"
  # shellcheck disable=SC2086 # both are lists of words
  $become sh "$root/bin/lib/install-packages" $1 || fail "that failed; please run as root: apt-get install $1"
}

# ensure_packages NEEDS
ensure_packages() {
  missing=$(missing_packages "$1")
  if [ -n "$missing" ]; then install_packages "$missing"; fi
}

# Whether the web interface was built since the last change of one of its sources.
web_is_built() {
  built=$root/apps/web/dist/index.html
  [ -f "$built" ] && [ -z "$(find "$root/apps/web" "$root/packages/contract/src" "$root/docs" "$root/package-lock.json" \
    \( -name dist -o -name node_modules \) -prune -o -type f -newer "$built" -print | head -n 1)" ]
}

# What is there stays until the new build is whole. Its assets stay for one build longer: pages that are open fetch more of them.
build_web() {
  dist=$root/apps/web/dist
  next=$root/.cache/web
  old=$root/.cache/web-before
  # One that was killed between its two moves: what it took away is all there is, should this one fail.
  if [ ! -d "$dist" ] && [ -d "$old" ]; then mv "$old" "$dist" || return 1; fi
  log=$(mktemp)
  say 'building the web interface'
  # Whatever runs this: tests have another NODE_ENV, with which libraries are built for looking into them, twice as large.
  if ! (cd "$root" && NODE_ENV=production npm run build --workspace apps/web -- --outDir "$next" --emptyOutDir) >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    rm -rf "$log" "$next"
    return 1
  fi
  rm -rf "$log" "$old"
  if [ -d "$dist/assets" ] && ! cp -R "$dist/assets" "$next/before"; then
    rm -rf "$next"
    return 1
  fi
  if [ -d "$dist" ]; then mv "$dist" "$old" || return 1; fi
  if ! mv "$next" "$dist"; then
    if [ -d "$old" ]; then mv "$old" "$dist"; fi
    return 1
  fi
  rm -rf "$old"
}

# Builds the web interface unless it is built; one launcher at a time, and no longer than a slow machine takes is waited for another, whose
# build may hang. Fails when it can't be: the proxy needs none.
ensure_web() {
  if web_is_built; then return 0; fi
  mkdir -p "$root/.cache" && (
    flock -w 600 9 || exit 1
    web_is_built || build_web
  ) 9>"$root/.cache/web.lock"
}
