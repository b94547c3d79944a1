/** A configuration that nginx accepts, within `http`, and what is read: `names scheme://host:port`, flags, then warnings. */
export interface Accepted {
  name: string;
  text: string;
  /** `names → scheme://host:port`, with `ssl` forced, `ws`, `h2`, `verify`, `grpc`, `hsts`, `hsts+sub` and `off` behind it. */
  hosts: string[];
  /** Pieces that have to be in warnings. */
  warnings?: string[];
}

const proxy = 'location / { proxy_pass http://127.0.0.1:8080; proxy_set_header Host $host; }';
const tls = 'ssl_certificate cert.pem; ssl_certificate_key key.pem;';

export const ACCEPTED: readonly Accepted[] = [
  { name: 'one server', text: `server { server_name a.test; ${proxy} }`, hosts: ['a.test → http://127.0.0.1:8080'] },
  {
    name: 'several names, one in capitals',
    text: `server { listen 80; server_name A.test www.a.test; ${proxy} }`,
    hosts: ['a.test,www.a.test → http://127.0.0.1:8080'],
  },
  {
    name: 'a wildcard and a name with a dot before it',
    text: `server { server_name *.a.test .b.test; ${proxy} }`,
    hosts: ['*.a.test,b.test,*.b.test → http://127.0.0.1:8080'],
  },
  {
    name: 'a pattern as a name',
    text: String.raw`server { server_name ~^(?<user>.+)\.a\.test$ a.test; ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080'],
    warnings: ['is a pattern'],
  },
  {
    name: 'only a wildcard at the end',
    text: `server { server_name www.example.*; ${proxy} }`,
    hosts: [],
    warnings: ['needs a whole name'],
  },
  { name: 'a server without a name', text: `server { listen 80; ${proxy} }`, hosts: [], warnings: ['no server_name'] },
  {
    name: 'the default server for all names',
    text: `server { listen 80 default_server; server_name _; ${proxy} }`,
    hosts: [],
    warnings: ['not imported'],
  },
  {
    name: 'TLS with http2, both ports',
    text: `server { listen 80; listen [::]:80; listen 443 ssl http2; listen [::]:443 ssl http2; server_name a.test; ${tls} ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080 h2'],
    warnings: ['upload the certificate'],
  },
  {
    name: 'TLS alone leads from http to https',
    text: `server { listen 443 ssl; server_name a.test; ${tls} ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080 ssl'],
  },
  {
    name: 'a server of its own redirects to https',
    text: `server { listen 80; server_name a.test; return 301 https://$host$request_uri; }
      server { listen 443 ssl http2; server_name a.test; ${tls} ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080 ssl h2'],
  },
  {
    name: 'as certbot writes it',
    text: `server { server_name a.test; ${proxy} listen 443 ssl; ${tls} }
      server { if ($host = a.test) { return 301 https://$host$request_uri; } listen 80; server_name a.test; return 404; }`,
    hosts: ['a.test → http://127.0.0.1:8080 ssl'],
  },
  {
    name: 'an if that redirects to https',
    text: `server { listen 80; listen 443 ssl; server_name a.test; ${tls} if ($scheme = http) { return 301 https://$host$request_uri; } ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080 ssl'],
  },
  {
    name: 'the same by http and by https, in two servers',
    text: `server { listen 80; server_name a.test; ${proxy} } server { listen 443 ssl; server_name a.test; ${tls} ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080'],
  },
  {
    name: 'http does something else than https',
    text: `server { listen 80; server_name a.test; location / { proxy_pass http://127.0.0.1:1; } }
      server { listen 443 ssl; server_name a.test; ${tls} ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080 ssl'],
    warnings: ['has the same name and is left out'],
  },
  {
    name: 'www redirects to the name without it',
    text: `server { server_name www.a.test; return 301 https://a.test$request_uri; } server { server_name a.test; ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080'],
    warnings: ['www.a.test is not imported: it only redirects to https://a.test$request_uri (301)'],
  },
  {
    name: 'WebSockets',
    text: `map $http_upgrade $connection_upgrade { default upgrade; '' close; }
      server { server_name a.test; location / { proxy_pass http://127.0.0.1:3000; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade; } }`,
    hosts: ['a.test → http://127.0.0.1:3000 ws'],
    warnings: ["the visitor's Host"],
  },
  {
    name: 'WebSockets in a location of their own',
    text: `server { server_name a.test; ${proxy} location /ws { proxy_pass http://127.0.0.1:8080; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade"; } }`,
    hosts: ['a.test → http://127.0.0.1:8080 ws'],
  },
  {
    name: 'an upstream with several servers',
    text: `upstream app { least_conn; server 10.0.0.1:9000 down; server 10.0.0.2:9001 weight=5; server 10.0.0.3:9002 backup; }
      server { server_name a.test; location / { proxy_pass http://app; } }`,
    hosts: ['a.test → http://10.0.0.2:9001'],
    warnings: ['10.0.0.1:9000 is left out', '10.0.0.3:9002 is left out', 'least_conn'],
  },
  {
    name: 'an upstream without a port',
    text: 'upstream app { server 10.0.0.2; } server { server_name a.test; location / { proxy_pass https://APP; } }',
    hosts: ['a.test → https://10.0.0.2:80'],
  },
  {
    name: 'an upstream at a socket',
    text: 'upstream app { server unix:/run/app.sock; } server { server_name a.test; location / { proxy_pass http://app; } }',
    hosts: [],
    warnings: ['is no TCP port'],
  },
  {
    name: 'https without and with a check of the certificate',
    text: `server { server_name a.test; location / { proxy_pass https://127.0.0.1; } }
      server { server_name b.test; location / { proxy_pass https://localhost:8443; proxy_ssl_verify on; proxy_ssl_trusted_certificate cert.pem; } }`,
    hosts: ['a.test → https://127.0.0.1:443', 'b.test → https://localhost:8443 verify'],
    warnings: ["the system's authorities"],
  },
  {
    name: 'gRPC',
    text: `server { listen 443 ssl http2; server_name g.test; ${tls} location / { grpc_pass grpc://127.0.0.1:50051; } }
      server { listen 443 ssl http2; server_name h.test; ${tls} location / { grpc_pass 127.0.0.1:50052; } }`,
    hosts: ['g.test → http://127.0.0.1:50051 ssl h2 grpc', 'h.test → http://127.0.0.1:50052 ssl h2 grpc'],
  },
  {
    name: 'as Nginx Proxy Manager writes it',
    text: `map $scheme $hsts_header { https "max-age=63072000;includeSubDomains; preload"; }
      server { set $forward_scheme http; set $server "192.168.1.20"; set $port 8123; listen 80; listen [::]:80; listen 443 ssl http2; listen [::]:443 ssl http2;
      server_name ha.test; ${tls} add_header Strict-Transport-Security $hsts_header always;
      set $test ""; if ($scheme = "http") { set $test "H"; } if ($request_uri = /.well-known/acme-challenge/test-challenge) { set $test "\${test}T"; }
      if ($test = H) { return 301 https://$host$request_uri; }
      location / { proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $http_connection; proxy_http_version 1.1; proxy_pass $forward_scheme://$server:$port$request_uri; } }`,
    hosts: ['ha.test → http://192.168.1.20:8123 ssl ws h2 hsts+sub'],
    warnings: ['without preload'],
  },
  {
    name: 'a variable with two values',
    text: 'server { server_name a.test; set $x 10.0.0.1; if ($args) { set $x 10.0.0.2; } location / { proxy_pass http://$x:80; } }',
    hosts: [],
    warnings: ['only known when a request comes'],
  },
  {
    name: 'a variable in braces, and a variable of a variable',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: nginx writes variables like this.
    text: 'server { server_name a.test; set $p 81; set $x "10.0.0.1:${p}"; location / { proxy_pass http://${x}; } }',
    hosts: ['a.test → http://10.0.0.1:81'],
  },
  {
    name: 'an upstream by map',
    text: 'map $host $where { default 10.0.0.1; b.test 10.0.0.2; } server { server_name a.test; location / { proxy_pass http://$where; } }',
    hosts: [],
    warnings: ['only known when a request comes'],
  },
  {
    name: 'only some paths have an upstream',
    text: 'server { server_name a.test; location /api/ { proxy_pass http://127.0.0.1:81; } location / { root /srv/www; } }',
    hosts: ['a.test → http://127.0.0.1:81 off'],
    warnings: ['only requests for /api/ go to this upstream', 'are answered in another way'],
  },
  {
    name: 'another upstream for some paths',
    text: `server { server_name a.test; ${proxy} location ^~ /api { proxy_pass http://127.0.0.1:81; } }`,
    hosts: ['a.test → http://127.0.0.1:8080'],
    warnings: ['requests for ^~ /api go to http://127.0.0.1:81'],
  },
  {
    name: 'requests are put below a path',
    text: 'server { server_name a.test; location / { proxy_pass http://127.0.0.1:81/app/; } }',
    hosts: ['a.test → http://127.0.0.1:81 off'],
    warnings: ['below another path'],
  },
  {
    name: 'a password for all of http, and none for one server',
    text: `auth_basic "in here"; auth_basic_user_file cert.pem; server { server_name a.test; ${proxy} } server { server_name b.test; auth_basic off; ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080 off', 'b.test → http://127.0.0.1:8080'],
    warnings: ['asks for a password'],
  },
  {
    name: 'addresses that may come in',
    text: `server { server_name a.test; allow 10.0.0.0/8; deny all; ${proxy} } server { server_name b.test; allow all; ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080 off', 'b.test → http://127.0.0.1:8080'],
    warnings: ['deny all keeps addresses out'],
  },
  {
    name: 'some paths are closed',
    text: String.raw`server { server_name a.test; ${proxy} location ~ /\.git { deny all; } } server { server_name b.test; ${proxy} location /admin { return 403; } }`,
    hosts: ['a.test → http://127.0.0.1:8080 off', 'b.test → http://127.0.0.1:8080 off'],
    warnings: ['are kept out'],
  },
  {
    name: 'an if keeps somebody out',
    text: `server { server_name a.test; if ($http_user_agent ~* "bo{2}t") { return 403; } ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080 off'],
    warnings: ['keeps some requests out'],
  },
  {
    name: 'certificates of visitors',
    text: `server { listen 443 ssl; server_name a.test; ${tls} ssl_client_certificate cert.pem; ssl_verify_client on; ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080 ssl off'],
  },
  {
    name: 'another server is asked who may come in',
    text: `server { server_name a.test; auth_request /auth; ${proxy} location = /auth { internal; proxy_pass http://127.0.0.1:9091; } }`,
    hosts: ['a.test → http://127.0.0.1:8080 off'],
    warnings: ['auth_request /auth asks another server'],
  },
  {
    name: 'what a proxy host can not say',
    text: `limit_req_zone $binary_remote_addr zone=one:1m rate=1r/s; server { server_name a.test; limit_req zone=one; client_max_body_size 1g; gzip on; rewrite ^/old /new last; add_header X-Frame-Options DENY; ${proxy} error_page 500 /50x.html; location = /50x.html { root /srv; } }`,
    hosts: ['a.test → http://127.0.0.1:8080'],
    warnings: [
      'limit_req zone=one',
      'client_max_body_size',
      'gzip on',
      'rewrite ^/old',
      'X-Frame-Options',
      'error_page',
    ],
  },
  {
    name: 'headers to the upstream',
    text: 'proxy_set_header X-Mine 1; server { server_name a.test; location / { proxy_pass http://127.0.0.1; proxy_set_header Host other.test; } } server { server_name b.test; location / { proxy_pass http://127.0.0.1; } }',
    hosts: ['a.test → http://127.0.0.1:80', 'b.test → http://127.0.0.1:80'],
    warnings: ['request header Host', 'request header X-Mine'],
  },
  {
    name: 'files first, then the upstream',
    text: 'server { server_name a.test; root /srv; location / { try_files $uri @app; } location @app { proxy_pass http://127.0.0.1:3000; } }',
    hosts: ['a.test → http://127.0.0.1:3000'],
    warnings: ['no files are served', 'try_files serves files'],
  },
  {
    name: 'only files',
    text: 'server { server_name a.test; root /srv; index index.html; }',
    hosts: [],
    warnings: ['it has no proxy_pass'],
  },
  {
    name: 'PHP',
    text: String.raw`server { server_name a.test; location ~ \.php$ { fastcgi_pass 127.0.0.1:9000; } }`,
    hosts: [],
    warnings: ['fastcgi_pass serves files'],
  },
  {
    name: 'odd ports and addresses',
    text: `server { listen 8080; server_name a.test; ${proxy} } server { listen 127.0.0.1:80; server_name b.test; ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080', 'b.test → http://127.0.0.1:8080 off'],
    warnings: ['port 8080', 'listen 127.0.0.1:80'],
  },
  {
    name: 'IPv6 and quotes, comments and no spaces',
    text: `server{server_name "a.test" 'b.test';# names
      location / {proxy_pass "http://[::1]:8080";}}`,
    hosts: ['a.test,b.test → http://::1:8080'],
  },
  {
    name: 'a location within a location',
    text: 'server { server_name a.test; location / { proxy_pass http://127.0.0.1:1; location /in { proxy_pass http://127.0.0.1:2; } } }',
    hosts: ['a.test → http://127.0.0.1:1'],
    warnings: ['requests for /in go to http://127.0.0.1:2'],
  },
  {
    name: 'TLS that another server of the same port asks for',
    text: `server { listen 443 ssl http2; server_name a.test; ${tls} ${proxy} } server { listen 443; server_name b.test; ${tls} ${proxy} }`,
    hosts: ['a.test → http://127.0.0.1:8080 ssl h2', 'b.test → http://127.0.0.1:8080 ssl h2'],
  },
];
