import { refuse } from '@sallyport/store/errors';
import { crsPolicy } from '@sallyport/waf/crs-settings';

/** Entries of a comma-separated list. */
export const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** Settings of the firewall, or of a host, as a caller gives them. */
interface Setup {
  waf_allowed_methods?: string | null;
  waf_allowed_content_types?: string | null;
}

const normaliseList = (text: string, field: keyof Setup, read: (entry: string) => string): string => {
  const entries = [...new Set(splitList(text).map(read))];
  if (entries.length === 0) throw refuse.invalid(`${field} names nothing`);
  for (const entry of entries) {
    try {
      crsPolicy(field === 'waf_allowed_methods' ? { methods: [entry] } : { contentTypes: [entry] });
    } catch {
      const kind = field === 'waf_allowed_methods' ? 'a request method' : 'a media type such as application/json';
      throw refuse.invalid(`${field}: "${entry}" is not ${kind}`);
    }
  }
  return entries.join(',');
};

/** Methods in upper case, media types in lower case, each once; throws a 400 that names the field and the entry. */
export const normaliseSetup = <T extends Setup>(input: T): T => {
  const { waf_allowed_methods: methods, waf_allowed_content_types: types } = input;
  return {
    ...input,
    ...(methods == null
      ? {}
      : { waf_allowed_methods: normaliseList(methods, 'waf_allowed_methods', (method) => method.toUpperCase()) }),
    ...(types == null
      ? {}
      : { waf_allowed_content_types: normaliseList(types, 'waf_allowed_content_types', (type) => type.toLowerCase()) }),
  };
};

/** What a host has otherwise than the suite, as the guards take it; empty when it has nothing of its own. */
export const setupOfHost = (
  host: Required<Setup> & { waf_body_limit: number | null },
): { waf_settings?: Record<string, string>; waf_body_limit?: number } => {
  const { waf_allowed_methods: methods, waf_allowed_content_types: types, waf_body_limit } = host;
  const settings = crsPolicy({
    ...(methods === null ? {} : { methods: splitList(methods) }),
    ...(types === null ? {} : { contentTypes: splitList(types) }),
  });
  return {
    ...(Object.keys(settings).length === 0 ? {} : { waf_settings: settings }),
    ...(waf_body_limit === null ? {} : { waf_body_limit }),
  };
};
