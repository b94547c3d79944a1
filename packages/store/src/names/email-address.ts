import { parseDomainName } from './domain-name.ts';

/** No white space, controls, quotes, lists or angle brackets: what mail headers would read differently than we do. */
const LOCAL_PART = /^[^\s\p{C}"(),:;<>@[\\\]]{1,64}$/u;
const MAX_LENGTH = 254;

/**
 * Normalises one e-mail address: NFC, lower case, the domain as punycode.
 * Throws an `Error` whose message continues the name of the field ("must be …").
 */
export const parseEmail = (text: string): string => {
  const invalid = () => new Error('must be a valid e-mail address');
  const trimmed = text.trim().normalize('NFC');
  const at = trimmed.lastIndexOf('@');
  const local = trimmed.slice(0, Math.max(0, at)).toLowerCase();
  if (at < 1 || !LOCAL_PART.test(local) || /^\.|\.\.|\.$/.test(local)) throw invalid();
  const domain = trimmed.slice(at + 1);
  if (domain.startsWith('*')) throw invalid();
  let name: string;
  try {
    name = parseDomainName(domain);
  } catch {
    throw invalid();
  }
  const email = `${local}@${name}`;
  if (email.length > MAX_LENGTH) throw invalid();
  return email;
};
