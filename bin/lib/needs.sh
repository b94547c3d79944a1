# What Sallyport takes from Debian, one need per line: <probe> <package>.
# A probe is a command, or an absolute path (globs allowed) that the package brings. These two lists are the only place.

# shellcheck disable=SC2034 # read by setup.sh
run_needs='
haproxy                             haproxy
/usr/share/modsecurity-crs/rules    modsecurity-crs
/etc/ssl/certs/ca-certificates.crt  ca-certificates
flock                               util-linux
'

# On top of run_needs: a PostgreSQL server and an SSH server that the tests start themselves, what they make certificates with,
# the Caddy and nginx that they compare the reading of their configurations with, and what they get certificates from: a certificate
# authority, a client that knows DNS providers, and a name server with its tools; and the browser that they look at the web interface with.
# shellcheck disable=SC2034
test_needs='
/usr/lib/postgresql/*/bin/initdb    postgresql
openssl                             openssl
perl                                perl
git                                 git
/usr/sbin/sshd                      openssh-server
caddy                               caddy
/usr/sbin/nginx                     nginx
pebble                              pebble
lego                                lego
/usr/sbin/named                     bind9
nsupdate                            bind9-dnsutils
/usr/bin/chromium-headless-shell    chromium-headless-shell
'

# What `bin/up --with=crowdsec` and the tests add. /usr/share/crowdsec/hub: its offline hub.
# shellcheck disable=SC2034
crowdsec_needs='
/usr/share/crowdsec/hub             crowdsec
'
