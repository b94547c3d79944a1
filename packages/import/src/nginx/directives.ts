import type { Directive } from './parse.ts';

/** Where a block may stand; what is not here may stand anywhere. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  http: ['main'],
  events: ['main'],
  stream: ['main'],
  mail: ['main'],
  upstream: ['http'],
  location: ['server', 'location'],
  listen: ['server'],
  server_name: ['server'],
  proxy_pass: ['location', 'if', 'limit_except'],
  grpc_pass: ['location', 'if'],
  fastcgi_pass: ['location', 'if'],
  try_files: ['server', 'location'],
  alias: ['location'],
  internal: ['location'],
  set: ['server', 'location', 'if'],
  if: ['server', 'location'],
  limit_except: ['location'],
  map: ['http'],
  return: ['server', 'location', 'if'],
};

const BLOCKS = new Set([
  ...['http', 'events', 'server', 'upstream', 'location', 'map', 'geo', 'if', 'limit_except', 'types', 'split_clients'],
]);
const NEVER_BLOCKS = new Set([
  'listen',
  'server_name',
  'proxy_pass',
  'grpc_pass',
  'return',
  'set',
  'include',
  'rewrite',
]);

const COUNTS: Readonly<Record<string, readonly [number, number]>> = {
  http: [0, 0],
  events: [0, 0],
  upstream: [1, 1],
  location: [1, 2],
  map: [2, 2],
  set: [2, 2],
  return: [1, 2],
  proxy_pass: [1, 1],
  grpc_pass: [1, 1],
  listen: [1, 100],
  server_name: [1, 10_000],
  rewrite: [2, 3],
  proxy_set_header: [2, 2],
  add_header: [2, 3],
  include: [1, 1],
  root: [1, 1],
  alias: [1, 1],
  try_files: [2, 100],
  auth_basic: [1, 1],
  allow: [1, 1],
  deny: [1, 1],
};

/** What is wrong with a directive at its place, as nginx would say, or undefined. `context` is the block it stands in. */
export const wrongWith = ({ name, args, block }: Directive, context: string): string | undefined => {
  const what = name.text;
  const places = Object.hasOwn(PLACES, what) ? PLACES[what]! : undefined;
  if (places && !places.includes(context)) return `${what} is not allowed here`;
  if (what === 'server' && !['http', 'upstream'].includes(context)) return 'server is not allowed here';
  if (BLOCKS.has(what) && !(what === 'server' && context === 'upstream') && !block) return `${what} needs a block`;
  if (block && (NEVER_BLOCKS.has(what) || (what === 'server' && context === 'upstream'))) return `${what} has no block`;
  const count = Object.hasOwn(COUNTS, what) ? COUNTS[what]! : undefined;
  if (count && (args.length < count[0] || args.length > count[1])) return `${what} has the wrong number of arguments`;
  if (what === 'server' && block && args.length > 0) return 'server has the wrong number of arguments';
  return undefined;
};

/** Directives that let somebody in only who may; `off` and `allow` as their value let all in. */
export const KEEPERS: Readonly<Record<string, string>> = {
  allow: 'lets only some addresses in',
  auth_basic: 'asks for a password',
  auth_jwt: 'asks for a token',
  auth_request: 'asks another server who may come in',
  deny: 'keeps addresses out',
  internal: 'keeps visitors out',
  limit_except: 'allows some methods only to some',
  satisfy: 'says which conditions of access have to hold',
  secure_link: 'asks for a signed link',
  ssl_verify_client: 'asks clients for a certificate',
  valid_referers: 'asks where visitors come from',
};

/** Read elsewhere, or of no meaning to a proxy host. */
export const READ = new Set([
  ...['listen', 'server_name', 'location', 'proxy_pass', 'grpc_pass', 'set', 'include', 'proxy_http_version', 'http2'],
  ...[
    'server_tokens',
    'proxy_ssl_server_name',
    'proxy_ssl_verify',
    'grpc_ssl_verify',
    'server',
    'upstream',
    'map',
    'if',
    'break',
    'types',
  ],
  ...['auth_basic_user_file', 'log_not_found', 'default_type', 'server_name_in_redirect', 'port_in_redirect', 'ssl'],
]);

export const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  access_log: 'the access log has its own form and place',
  add_header: 'headers of answers are not changed',
  client_body_buffer_size: 'bodies of requests have the limits of the whole proxy',
  client_max_body_size: 'bodies of requests have the limits of the whole proxy',
  error_log: 'the log has its own form and place',
  error_page: 'pages for errors are those of the origin',
  expires: 'headers of answers are not changed',
  gzip: 'answers are not compressed on the way',
  limit_conn: 'limits are set for the whole proxy, see its guard',
  limit_req: 'limits are set for the whole proxy, see its guard',
  proxy_buffering: 'answers are passed on as they come',
  proxy_cache: 'answers are not kept',
  proxy_hide_header: 'headers of answers are not changed',
  proxy_method: 'the method of requests is not changed',
  proxy_redirect: 'headers of answers are not changed',
  proxy_set_body: 'bodies of requests are not changed',
  proxy_ssl_trusted_certificate: "the upstream's certificate is checked against the system's authorities",
  rewrite: 'paths are passed on as they are',
  sub_filter: 'answers are not changed',
};

/** Directives that serve files, or run programs for which another server is needed. */
export const STATIC_FILES = new Set([
  ...['root', 'alias', 'try_files', 'autoindex', 'index', 'fastcgi_pass', 'uwsgi_pass', 'scgi_pass', 'memcached_pass'],
]);

const KNOWN =
  /^(?:absolute_redirect|aio|ancient_browser|auth_(?:delay|jwt_|request_set)|autoindex|body_filter_by_lua|brotli|charset|chunked|client_|connection_pool|create_full|dav_|default_type|directio|disable_symlinks|empty_gif|etag|expires|f4f|fastcgi|flv|geo|grpc_|gunzip|gzip|header_filter_by_lua|hls|http[23]|if_modified|init_(?:worker_)?by_lua|js_(?:import|path|set|var)|ignore_invalid|image_filter|index|keepalive|large_client|limit_rate|lingering|log_|lua_|max_ranges|memcached|merge_slashes|min_delete|mirror|modern_browser|more_|mp4|msie|open_file_cache|open(?:telemetry|tracing)|otel_|output_buffers|override_charset|passenger_|perl_|port_in|postpone|proxy_|quic|random_index|read_ahead|real_ip|recursive_error|referer_hash|request_pool|reset_timedout|resolver|rewrite_log|root|scgi_|send|server_|set_by_lua|set_real_ip|slice|split_clients|ssi|ssl_|status|stub_status|sub_filter|subrequest|tcp_|try_files|types|underscores|uninitialized|userid|uwsgi|variables|vhost_traffic_status|xclient|xml_|xslt|zone)/;

/** Whether it is a directive of nginx that decides nothing about who may come in. */
export const isKnown = (name: string): boolean =>
  READ.has(name) || Object.hasOwn(WITHOUT_EFFECT, name) || STATIC_FILES.has(name) || KNOWN.test(name);

/** Directives that are about nginx itself. */
export const OF_NGINX_ITSELF =
  /^(?:user|worker_\w+|pid|events|daemon|master_process|load_module|error_log|pcre_jit|lock_file|thread_pool|timer_resolution|env|debug_\w+|ssl_engine|include|working_directory|google_perftools_profiles)$/;
