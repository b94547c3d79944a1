import { addAll } from '../add-all.ts';
import { atMost } from '../at-most.ts';
import { aboutAutomatic } from '../certificates/automatic.ts';
import { Beside } from '../certificates/beside.ts';
import { warn } from '../loss.ts';
import type { ImportWarning, Reading, SourceError, SourceFile } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { checkNginx } from './check.ts';
import { isKnown, OF_NGINX_ITSELF } from './directives.ts';
import { splitDump } from './dump.ts';
import { NginxError } from './error.ts';
import { upstreamsOf } from './forward.ts';
import { makeHosts, type Site, siteOf } from './hosts.ts';
import { loadNginx } from './include.ts';
import { lossesOfHttp, staticFilesIn } from './losses.ts';
import type { Directive } from './parse.ts';
import { named } from './scope.ts';
import { serverOf, socketsOf } from './server.ts';

/** Of the whole, not of each host. */
const MAX_WARNINGS = 1000;

/** In `http`, what is read elsewhere or of no meaning to a proxy host. */
const READ_OF_HTTP =
  /^(?:server|upstream|map|http|include|proxy_set_header|add_header|sendfile.*|tcp_\w+|types\w*|default_type|keepalive\w*|server_names_\w+|server_tokens|log_format|ssl_\w+|proxy_\w+|access_log|error_log|gzip\w*|\w+_hash_\w+|auth_basic\w*|allow|deny|satisfy|resolver\w*|client_\w+|send_timeout|reset_timedout_connection|aio|directio|open_file_\w+|charset|index|root|limit_\w+_(?:zone|status)|http2\w*|geo|split_clients|set_real_ip_from|real_ip_\w+|fastcgi_\w+|uwsgi_\w+|scgi_\w+|variables_\w+|large_client_header_buffers|underscores_in_headers|etag|output_buffers)$/;

const aboutOthers = (top: readonly Directive[], http: readonly Directive[]): ImportWarning[] => {
  const isMain = ({ name }: Directive) => OF_NGINX_ITSELF.test(name.text);
  const ofNginx = top.filter(isMain);
  const tuning = http.filter(
    ({ name }) => READ_OF_HTTP.test(name.text) && !/^(?:server|upstream|map|http|include)$/.test(name.text),
  );
  const warnings = [...ofNginx, ...tuning].slice(0, 1).map(({ name }) => {
    const names = [...new Set([...ofNginx, ...tuning].map((one) => one.name.text))];
    const more = names.length > 12 ? ` and ${names.length - 12} more` : '';
    return warn(name, `settings for the whole of nginx are not taken over: ${names.slice(0, 12).join(', ')}${more}`);
  });
  for (const { name } of [...http, ...top]) {
    if (READ_OF_HTTP.test(name.text) || OF_NGINX_ITSELF.test(name.text)) continue;
    const what = /^(?:stream|mail)$/.test(name.text)
      ? `${name.text}: only http is read`
      : `${name.text} is not taken over`;
    const strange = isKnown(name.text) || /^(?:stream|mail)$/.test(name.text) ? '' : ': it may have kept requests out';
    warnings.push(warn(name, `${what}${strange}`));
  }
  return warnings;
};

/** Each pattern once: every server may have it. */
const aboutUnmatched = (unmatched: readonly Directive[]): ImportWarning[] => {
  const byPath = new Map(unmatched.toReversed().map(({ name, args }) => [args[0]!.text, name]));
  return Array.from(byPath, ([path, name]) =>
    warn(name, `no file that was uploaded is meant by include ${shorten(path)}: if there are any, upload them, too`),
  );
};

/** Runs what may find an error, which is then collected. */
const collecting = <T>(errors: SourceError[], run: () => T): T | undefined => {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof NginxError)) throw error;
    errors.push(error.found);
    return undefined;
  }
};

const readLoaded = (
  files: readonly SourceFile[],
  { isWhole, beside }: { isWhole: boolean; beside: Beside },
  errors: SourceError[],
): Omit<Reading, 'source' | 'errors'> => {
  const { directives, missing, unmatched, unused } = loadNginx(files, isWhole);
  checkNginx(directives);
  const own = named(directives, 'http')[0]?.block;
  const top = directives.filter(({ name }) => own && OF_NGINX_ITSELF.test(name.text));
  const http = [...(own ?? []), ...directives.filter((one) => one.name.text !== 'http' && !top.includes(one))];
  const scope = { own: http, outer: undefined };
  const upstreams = upstreamsOf(http);
  const servers = named(http, 'server');
  const sockets = socketsOf(servers);
  const sites = servers.flatMap((one): Site[] => {
    const site = collecting(errors, () => siteOf(serverOf(one, scope, sockets), upstreams));
    return site ? [site] : [];
  });
  for (const { name, args } of missing) {
    const text = args[0]!.text;
    errors.push({
      ...warn(name, 'the file that is included here is not among those uploaded'),
      text: shorten(text, 200),
    });
  }
  if (servers.length === 0 && errors.length === 0) {
    const [first] = files;
    const text = shorten(first?.content.trim().split('\n')[0] ?? '', 200);
    errors.push({ file: first?.name ?? '', line: 1, column: 1, message: 'there is no server in it', text });
  }
  const warnings: ImportWarning[] = [
    ...aboutOthers(top, http),
    ...aboutUnmatched(unmatched),
    ...unused.map(({ name }) => warn({ file: name, line: 1 }, 'no other file includes this one: it is left out')),
  ];
  const shared = lossesOfHttp(http, (name) => READ_OF_HTTP.test(name) || OF_NGINX_ITSELF.test(name));
  const hosts = makeHosts(sites, { shared, beside }, warnings);
  const staticFiles = servers
    .flatMap(({ block = [] }) => staticFilesIn(block))
    .map(({ name }) => warn(name, `${name.text} serves files, which a proxy host does not`));
  addAll(warnings, aboutAutomatic('A program beside nginx', hosts));
  return { hosts, warnings: atMost(MAX_WARNINGS, warnings), staticFiles: atMost(MAX_WARNINGS, staticFiles) };
};

/**
 * Reads a configuration of nginx into proxy hosts: the main file and those that it includes, files that stand by themselves, or
 * the output of `nginx -T`, with the certificates that were uploaded beside them. Never throws because of what the files say: that is in the reading's `errors`.
 */
export const readNginx = (uploaded: readonly SourceFile[], beside = new Beside([])): Reading => {
  const errors: SourceError[] = [];
  const files = uploaded.flatMap(splitDump);
  // What `nginx -T` prints is all that there is.
  const isWhole = files.length > 0 && files.every((file) => !uploaded.includes(file));
  const read = collecting(errors, () => readLoaded(files, { isWhole, beside }, errors));
  const nothing = { hosts: [], warnings: [], staticFiles: [] };
  const { hosts } = read ?? nothing;
  const certificates = beside.taken(hosts);
  return { source: 'nginx', ...(read ?? nothing), certificates, errors: errors.slice(0, MAX_WARNINGS) };
};
