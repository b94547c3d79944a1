import type { Directive, GlobalOptions, Handler, Site } from '@sallyport/caddyfile';
import { addAll } from '../add-all.ts';
import type { NamedFiles } from '../certificates/beside.ts';
import type { Served } from '../certificates/pair.ts';
import { type Loss, loss } from '../loss.ts';
import type { ImportedHost } from '../reading.ts';

/** Fields of a proxy host that a site's settings decide, and what of them is lost. */
export interface Settings {
  fields: Pick<ImportedHost, 'http2_support' | 'hsts_enabled' | 'hsts_subdomains' | 'certificate'>;
  losses: Loss[];
  /** Whether the site says where its certificate comes from: from files, or Caddy's own authority. */
  hasOwnCertificate: boolean;
  /** Of `passed`, what the fields express. */
  expressed: ReadonlySet<Handler>;
}

/** Finds the certificate that is named, for the names of a site. */
type Serve = (named: NamedFiles) => Served;

const EVERYWHERE = new Set(['', '0.0.0.0', '::', '[::]']);
const OUR_MAX_AGE = 63_072_000;

interface Tls extends Served {
  noHttp2: boolean;
  isOwn: boolean;
}

const aboutTls = ({ name, args, block = [] }: Directive, serve: Serve): Tls => {
  const losses: Loss[] = [];
  let served: Served | undefined;
  const [first, second] = args.map(({ text }) => text);
  const isOwn = first === 'internal' || (first !== undefined && second !== undefined);
  if (first === 'internal') {
    const message = 'tls internal: Caddy is its own authority here; order a certificate of the internal authority';
    losses.push(loss(name, message));
  } else if (first !== undefined && second !== undefined) {
    served = serve({ at: name, certificate: first, key: second });
    addAll(losses, served.losses);
  } else if (first !== undefined && !first.includes('@')) losses.push(loss(name, `tls ${first} is not taken over`));
  let noHttp2 = false;
  for (const setting of block) {
    const what = setting.name.text;
    if (what === 'alpn') noHttp2 = !setting.args.some(({ text }) => text === 'h2');
    else if (what === 'client_auth') {
      losses.push(loss(setting.name, 'tls client_auth asks clients for a certificate, which is not taken over', true));
    } else losses.push(loss(setting.name, `tls ${what} is not taken over`));
  }
  return { losses, noHttp2, isOwn, ...(served?.certificate !== undefined && { certificate: served.certificate }) };
};

const aboutBind = ({ name, args }: Directive): Loss[] => {
  const elsewhere = args.map(({ text }) => text).filter((text) => !EVERYWHERE.has(text));
  if (elsewhere.length === 0) return [];
  const which = elsewhere.slice(0, 3).join(' ');
  return [loss(name, `${name.text} ${which}: the host is reached at every address that the proxy listens on`, true)];
};

const aboutSetting = (directive: Directive): Loss[] => {
  const { name } = directive;
  if (name.text === 'bind') return aboutBind(directive);
  if (name.text === 'log') return [loss(name, 'log: the access log has its own form and place')];
  if (name.text === 'import') {
    const message = `import ${directive.args[0]?.text ?? ''} fits no file that was uploaded: it may have kept requests out`;
    return [loss(name, message, true)];
  }
  return [loss(name, `${name.text} is not taken over`)];
};

/** Reads `header Strict-Transport-Security …`, which a proxy host can say in its own way. */
const hstsOf = (handler: Handler): { fields: Settings['fields']; losses: Loss[] } | undefined => {
  const [field, value, ...more] = handler.args;
  const only = handler.directive.block?.length === 1 ? handler.directive.block[0]! : undefined;
  const [key, text] = field ? [field, value] : [only?.name, only?.args[0]];
  if (handler.name !== 'header' || more.length > 0 || !key || !text) return undefined;
  if (key.text.replace(/^[+?>]/, '').toLowerCase() !== 'strict-transport-security') return undefined;
  const parts = text.text
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const maxAge = Number(
    parts
      .find((part) => part.startsWith('max-age='))
      ?.slice(8)
      .replaceAll('"', ''),
  );
  if (!(maxAge > 0)) return undefined;
  const losses: Loss[] = [];
  if (maxAge !== OUR_MAX_AGE)
    losses.push(loss(key, `Strict-Transport-Security is sent for two years, not for ${maxAge} s`));
  if (parts.includes('preload')) losses.push(loss(key, 'Strict-Transport-Security is sent without preload'));
  const fields = { hsts_enabled: true, hsts_subdomains: parts.includes('includesubdomains') };
  return { fields, losses };
};

/** What a site says besides where requests go. `passed` is what all its requests pass; `serve` finds its certificate. */
export const settingsOf = (site: Site, passed: readonly Handler[], options: GlobalOptions, serve: Serve): Settings => {
  const fields: Settings['fields'] = {};
  const losses: Loss[] = [];
  const expressed = new Set<Handler>();
  for (const handler of passed) {
    const hsts = hstsOf(handler);
    if (!hsts) continue;
    expressed.add(handler);
    Object.assign(fields, hsts.fields);
    addAll(losses, hsts.losses);
  }
  let hasOwnCertificate = false;
  let noHttp2 = options.protocols !== undefined && !options.protocols.includes('h2');
  for (const setting of site.settings) {
    if (setting.name.text !== 'tls') {
      addAll(losses, aboutSetting(setting));
      continue;
    }
    const tls = aboutTls(setting, serve);
    if (tls.certificate !== undefined) fields.certificate ??= tls.certificate;
    addAll(losses, tls.losses);
    noHttp2 ||= tls.noHttp2;
    hasOwnCertificate ||= tls.isOwn;
  }
  for (const setting of site.innerSettings) {
    addAll(losses, setting.name.text === 'tls' ? aboutTls(setting, serve).losses : aboutSetting(setting));
    const where = `${setting.name.text} stands within another block, where Caddy does not take it`;
    if (setting.name.text !== 'import') losses.push(loss(setting.name, where));
  }
  if (!site.settings.some(({ name }) => name.text === 'bind')) {
    for (const option of options.others) if (option.name.text === 'default_bind') addAll(losses, aboutBind(option));
  }
  for (const { token, path } of site.addresses) {
    if (path !== '' && path !== '/*')
      losses.push(loss(token, `the site is for paths ${path} only, a proxy host for all`, true));
  }
  if (noHttp2) fields.http2_support = false;
  return { fields, losses, hasOwnCertificate, expressed };
};
