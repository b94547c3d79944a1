# Sourced by setup.sh: Node and the npm packages.

# is_recent_node COMMAND: it runs, and is Node 24 or later.
is_recent_node() {
  version=$("$1" --version 2>/dev/null) || return 1
  major=${version#v}
  [ "${major%%.*}" -ge 24 ] 2>/dev/null
}

# Prints the path of the Node that the lockfile brings for this machine, if it is installed.
# It is not node_modules/.bin/node: Debian's npm does not make that link.
pinned_node() {
  for candidate in "$root"/node_modules/node-linux-*/bin/node; do
    if is_recent_node "$candidate"; then printf '%s\n' "$candidate"; fi
  done
}

# The lockfile and every package.json decide what must be in node_modules.
modules_wanted() {
  cat "$root/package-lock.json" "$root"/package.json "$root"/packages/*/package.json "$root"/apps/*/package.json |
    sha256sum | cut -c 1-64
}

# npm_ci [OPTION…]: quiet unless it fails.
npm_ci() {
  log=$(mktemp)
  if ! (cd "$root" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error "$@") >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    fail 'npm ci failed'
  fi
  rm -f "$log"
}

# npm leaves out optional packages that don't support the Node it runs on, native parts of the test runner among them.
# On an old Node the pinned one is fetched first, and npm runs again on that.
npm_ci_on_pinned_node() {
  if [ -z "$(pinned_node)" ]; then
    npm_ci --omit=dev
    # Were we stopped here, this record would make the half install look whole.
    rm -f "$root/node_modules/.package-lock.json"
  fi
  if [ -z "$(pinned_node)" ]; then fail "npm has no Node 24 for this machine: please install Node 24 or later"; fi
  borrowed=$root/.cache/node
  mkdir -p "$borrowed"
  cp -f "$(pinned_node)" "$borrowed/node"
  (PATH="$borrowed:$PATH" && npm_ci)
  rm -rf "$borrowed"
}

modules_are_right() {
  stamp=$root/node_modules/.sallyport-installed
  wanted=$(modules_wanted)
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then return 0; fi
  # Somebody ran npm by hand after the last change: npm's own record is then newer than all that it was made from.
  installed=$root/node_modules/.package-lock.json
  [ -f "$installed" ] && [ -z "$(find "$root/package-lock.json" "$root/package.json" "$root"/packages/*/package.json \
    "$root"/apps/*/package.json -newer "$installed")" ] && printf '%s\n' "$wanted" >"$stamp"
}

# Installs the locked dependencies unless they are the ones already there; one launcher at a time.
ensure_modules() {
  if modules_are_right; then return; fi
  mkdir -p "$root/.cache"
  (
    flock 9
    if modules_are_right; then exit 0; fi
    if ! is_there npm; then
      if is_there node; then install_packages 'npm '; else install_packages 'nodejs npm '; fi
    fi
    say 'installing the locked npm packages'
    if is_recent_node node; then npm_ci; else npm_ci_on_pinned_node; fi
    printf '%s\n' "$(modules_wanted)" >"$root/node_modules/.sallyport-installed"
  ) 9>"$root/.cache/install.lock"
}

# Sets $node to a Node >= 24: the system's, else the pinned one.
choose_node() {
  # Node keeps what it compiled, which halves the time our programs take to start.
  NODE_COMPILE_CACHE=$root/node_modules/.cache/node
  export NODE_COMPILE_CACHE
  if is_recent_node node; then
    node=$(command -v node)
    return
  fi
  node=$(pinned_node)
  if [ -z "$node" ]; then fail 'needs Node 24 or later: please install it'; fi
  # What starts by "#!/usr/bin/env node" must get the same one.
  PATH="$(dirname "$node"):$PATH"
}
