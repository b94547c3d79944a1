# Sourced by setup.sh: Node and the npm packages.

# is_recent_node COMMAND: it runs, and is Node 24 or later.
is_recent_node() {
  version=$("$1" --version 2>/dev/null) || return 1
  major=${version#v}
  [ "${major%%.*}" -ge 24 ] 2>/dev/null
}

# pinned_node [DIRECTORY]: prints the path of the Node that the lockfile brings for this machine, if it is installed there.
# It is not node_modules/.bin/node: Debian's npm does not make that link.
pinned_node() {
  for candidate in "${1:-$root}"/node_modules/node-linux-*/bin/node; do
    if is_recent_node "$candidate"; then printf '%s\n' "$candidate"; fi
  done
}

# The lockfile and every package.json decide what must be in node_modules.
modules_wanted() {
  cat "$root/package-lock.json" "$root"/package.json "$root"/packages/*/package.json "$root"/apps/*/package.json |
    sha256sum | cut -c 1-64
}

# npm_ci DIRECTORY: installs there what its lockfile says; quiet unless it fails. What builds the web interface as well, also where
# NODE_ENV=production would leave it out.
npm_ci() {
  log=$(mktemp)
  if ! (cd "$1" && npm ci --include=dev --ignore-scripts --no-audit --no-fund --loglevel=error) >"$log" 2>&1; then
    cat "$log" >&2
    rm -rf "$log" "$1"
    fail 'npm ci failed; what was installed before was left as it is'
  fi
  rm -f "$log"
}

# npm leaves out optional packages that don't support the Node it runs on, native parts of the test runner among them.
# On an old Node the pinned one is fetched first, by itself, and npm runs on that.
npm_ci_on_pinned_node() {
  alone=$root/.cache/node
  rm -rf "$alone"
  node "$root/bin/lib/node-alone.mjs" "$root" "$alone" || fail 'package-lock.json could not be read'
  npm_ci "$alone"
  pinned=$(pinned_node "$alone")
  if [ -z "$pinned" ]; then
    rm -rf "$alone"
    fail "npm has no Node 24 for this machine: please install Node 24 or later"
  fi
  (PATH="$(dirname "$pinned"):$PATH" && npm_ci "$aside")
  rm -rf "$alone"
}

# What "npm ci" makes: node_modules of the repository and of its workspaces, relative to it.
module_directories() {
  (cd "$1" && ls -d node_modules packages/*/node_modules apps/*/node_modules 2>/dev/null) || true
}

# npm removes what is there before it fetches: without a registry nothing would be left to start. So it works aside, and
# what it made takes the place of the old only when it is whole.
install_modules() {
  aside=$root/.cache/install
  old=$root/.cache/modules-before
  rm -rf "$aside"
  for file in $(cd "$root" && ls -d package.json package-lock.json .npmrc packages/*/package.json apps/*/package.json 2>/dev/null); do
    mkdir -p "$aside/$(dirname "$file")"
    cp -p "$root/$file" "$aside/$file"
  done
  if is_recent_node node; then npm_ci "$aside"; else npm_ci_on_pinned_node; fi
  printf '%s\n' "$(modules_wanted)" >"$aside/node_modules/.sallyport-installed"
  rm -rf "$old"
  for directory in $(module_directories "$root"); do
    mkdir -p "$old/$(dirname "$directory")"
    mv "$root/$directory" "$old/$directory"
  done
  for directory in $(module_directories "$aside"); do mv "$aside/$directory" "$root/$directory"; done
  rm -rf "$aside" "$old"
}

# Were we stopped between the two moves, the modules that were there before are still aside.
put_back_modules() {
  old=$root/.cache/modules-before
  if [ ! -d "$old/node_modules" ] || [ -d "$root/node_modules" ]; then return 0; fi
  for directory in $(module_directories "$old"); do mv "$old/$directory" "$root/$directory"; done
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
    put_back_modules
    if modules_are_right; then exit 0; fi
    if ! is_there npm; then
      if is_there node; then install_packages 'npm '; else install_packages 'nodejs npm '; fi
    fi
    say 'installing the locked npm packages'
    install_modules
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

# Compiles our sources ahead, unless that was done since the last change of one. Nothing depends on it but memory and the
# time to start: where it can't be done, each process does it for itself.
ensure_compiled() {
  stamp=$NODE_COMPILE_CACHE/compiled-$("$node" --version)
  if [ -f "$stamp" ] && [ -z "$(find "$root"/apps/*/src "$root"/packages/*/src -name '*.ts' -newer "$stamp" | head -n 1)" ]; then
    return
  fi
  mkdir -p "$NODE_COMPILE_CACHE" 2>/dev/null && [ -w "$NODE_COMPILE_CACHE" ] || return 0
  "$node" "$root/bin/lib/compile.mjs" "$root" "$stamp" 2>/dev/null || true
}
