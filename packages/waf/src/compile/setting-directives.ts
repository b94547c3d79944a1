import { latin1 } from '../bytes/bytes.ts';
import type { Settings } from '../model/settings.ts';
import type { Text } from '../seclang/ast.ts';
import { resolveBeside } from '../seclang/resolve-beside.ts';
import { parseUnicodeMap } from '../transformations/unicode-map.ts';
import type { CompileContext } from './context.ts';

/** Applies one directive's arguments to the settings, or says what was expected. */
type Reader = (settings: Settings, args: readonly Text[], context: CompileContext) => string | null;

/** Keys of the settings whose values are of a kind. */
type KeysOf<T> = { [Key in keyof Settings]: T extends Settings[Key] ? Key : never }[keyof Settings];

const maxLimit = 1_073_741_824;

const choice =
  <T extends string | number | boolean>(options: Readonly<Record<string, T>>, key: KeysOf<T>): Reader =>
  (settings, args) => {
    const word = args[0]?.value.toLowerCase() ?? '';
    if (args.length !== 1 || !Object.hasOwn(options, word)) return `one of ${Object.keys(options).join(', ')}`;
    Object.assign(settings, { [key]: options[word]! });
    return null;
  };

const integer =
  (least: number, most: number, key: KeysOf<number>): Reader =>
  (settings, args) => {
    const word = args[0]?.value ?? '';
    const value = Number(word);
    if (args.length !== 1 || !/^\d+$/.test(word) || value < least || value > most)
      return `a whole number from ${least} to ${most}`;
    settings[key] = value as never;
    return null;
  };

/** A limit above that of the caller would never be met: it says so, in place of being without effect. */
const bodyLimit =
  (key: 'requestBodyLimit' | 'requestBodyNoFilesLimit'): Reader =>
  (settings, args, context) => {
    const most = context.env.maxBodyBytes ?? maxLimit;
    if (Number(args[0]?.value) > most)
      return `at most ${most} bytes: longer bodies are refused before any rule sees them`;
    return integer(1, maxLimit, key)(settings, args, context);
  };

const text =
  (key: KeysOf<string>): Reader =>
  (settings, args) => {
    if (args.length !== 1) return 'one argument';
    settings[key] = args[0]!.value as never;
    return null;
  };

const onOff = { on: true, off: false };
const limitActions = { reject: 'reject', processpartial: 'process-partial' } as const;

/** Directives that change what the engine does. Keys in lower case. */
export const settingDirectives: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['secruleengine', choice({ on: 'on', off: 'off', detectiononly: 'detection-only' } as const, 'engineMode')],
  ['secrequestbodyaccess', choice(onOff, 'isRequestBodyAccessed')],
  ['secrequestbodylimit', bodyLimit('requestBodyLimit')],
  ['secrequestbodynofileslimit', bodyLimit('requestBodyNoFilesLimit')],
  ['secrequestbodylimitaction', choice(limitActions, 'requestBodyLimitAction')],
  ['secrequestbodyjsondepthlimit', integer(1, 10_000, 'jsonDepthLimit')],
  ['secresponsebodyaccess', choice(onOff, 'isResponseBodyAccessed')],
  ['secresponsebodylimit', integer(1, maxLimit, 'responseBodyLimit')],
  ['secresponsebodylimitaction', choice(limitActions, 'responseBodyLimitAction')],
  [
    'secresponsebodymimetype',
    (settings, args) => {
      if (args.length === 0) return 'one or more media types';
      settings.responseBodyTypes = args.flatMap((arg) => arg.value.toLowerCase().split(/\s+/).filter(Boolean));
      return null;
    },
  ],
  [
    'secresponsebodymimetypesclear',
    (settings, args) => {
      settings.responseBodyTypes = [];
      return args.length === 0 ? null : 'no argument';
    },
  ],
  ['secargumentslimit', integer(1, 1_000_000, 'argumentsLimit')],
  [
    'secargumentseparator',
    (settings, args) => {
      if (args.length !== 1 || args[0]!.value.length !== 1) return 'one character';
      settings.argumentSeparator = args[0]!.value.charCodeAt(0);
      return null;
    },
  ],
  [
    'seccookieformat',
    (_settings, args) =>
      args.length === 1 && args[0]!.value === '0'
        ? null
        : '0: version 1 cookies are history, and no browser sends them',
  ],
  ['seccollectiontimeout', integer(1, 31_536_000, 'collectionTimeoutSeconds')],
  [
    'seccomponentsignature',
    (settings, args) => {
      if (args.length !== 1) return 'one text';
      settings.componentSignatures = [...settings.componentSignatures, args[0]!.value];
      return null;
    },
  ],
  ['secwebappid', text('webAppId')],
  [
    'secunicodemapfile',
    (settings, args, context) => {
      if (args.length < 1 || args.length > 2 || (args[1] !== undefined && !/^\d+$/.test(args[1].value))) {
        return 'a file and (optionally) a code page such as 20127';
      }
      if (context.env.readFile === undefined) return 'a readable file (this caller reads none)';
      try {
        settings.unicodeMap = parseUnicodeMap(
          latin1(context.env.readFile(resolveBeside(args[0]!.placeOf(0).file, args[0]!.value))),
          Number(args[1]?.value ?? 20127),
        );
        return null;
      } catch (cause) {
        return `a readable map file: ${(cause as Error).message}`;
      }
    },
  ],
]);

/** Directives that are read and have no effect here, with the reason. */
export const directivesWithoutEffect: ReadonlyMap<string, string> = new Map([
  ['secauditengine', 'the caller writes the audit log'],
  ['secauditlog', 'the caller writes the audit log'],
  ['secauditlog2', 'the caller writes the audit log'],
  ['secauditlogtype', 'the caller writes the audit log'],
  ['secauditlogformat', 'the caller writes the audit log'],
  ['secauditlogstoragedir', 'the caller writes the audit log'],
  ['secauditlogdirmode', 'the caller writes the audit log'],
  ['secauditlogfilemode', 'the caller writes the audit log'],
  ['secauditlogprefix', 'the caller writes the audit log'],
  ['secauditlogparts', 'the caller writes the audit log'],
  ['secauditlogrelevantstatus', 'the caller writes the audit log'],
  ['secdebuglog', 'there is no debug log; use "waf explain"'],
  ['secdebugloglevel', 'there is no debug log; use "waf explain"'],
  ['sectmpdir', 'nothing is written to disk'],
  ['secdatadir', 'persistent collections are kept by the caller'],
  ['secuploaddir', 'uploads are not kept'],
  ['secuploadkeepfiles', 'uploads are not kept'],
  ['secuploadfilelimit', 'uploads are not kept'],
  ['secuploadfilemode', 'uploads are not kept'],
  ['sectmpsaveuploadedfiles', 'uploads are not kept'],
  ['secrequestbodyinmemorylimit', 'bodies are inspected in memory'],
  ['secstatusengine', 'nothing is reported to a third party'],
  ['secconnengine', 'connections are limited by the data plane'],
  ['secserversignature', 'response headers are the data plane’s'],
  ['secxmlexternalentity', 'XML entities are never resolved'],
  ['secpcrematchlimit', 'patterns do not backtrack; the work budget bounds a request'],
  ['secpcrematchlimitrecursion', 'patterns do not recurse; the work budget bounds a request'],
  ['secgeolookupdb', 'country data comes from the caller'],
  ['secinterceptonerror', 'a rule that cannot be evaluated to its end counts against the work budget'],
  ['seccachetransformations', 'transformations are always cached'],
  ['secruleinheritance', 'there is one rule set'],
]);

/** Directives that are refused, with the reason. */
export const refusedDirectives: ReadonlyMap<string, string> = new Map([
  ['secrulescript', 'Lua is not supported'],
  ['secremoterules', 'rules are not fetched while loading; add the rule set by its URL instead'],
  ['secremoterulesfailaction', 'rules are not fetched while loading'],
  ['secchrootdir', 'the process is confined by the service manager'],
  ['seccontentinjection', 'responses are not rewritten'],
  ['secstreaminbodyinspection', 'bodies are not rewritten'],
  ['secstreamoutbodyinspection', 'bodies are not rewritten'],
  ['secdisablebackendcompression', 'request headers are not rewritten'],
  ['secencryptionengine', 'responses are not rewritten'],
  ['secguardianlog', 'no process is started'],
  ['secgsblookupdb', 'the engine makes no look-ups at third parties'],
  ['sechttpblkey', 'the engine makes no DNS look-ups'],
  ['sechashengine', 'responses are not rewritten'],
  ['sechashkey', 'responses are not rewritten'],
  ['sechashparam', 'responses are not rewritten'],
  ['sechashmethodrx', 'responses are not rewritten'],
  ['sechashmethodpm', 'responses are not rewritten'],
  ['secreadstatelimit', 'connections are limited by the data plane'],
  ['secwritestatelimit', 'connections are limited by the data plane'],
  ['secconnreadstatelimit', 'connections are limited by the data plane'],
  ['secconnwritestatelimit', 'connections are limited by the data plane'],
  ['secsensorid', 'audit logs are the caller’s'],
  ['seccookiev0separator', 'cookies are separated by ";"'],
  ['secruleperftime', 'the engine has no per-rule timers'],
  ['secparsexmlintoargs', 'XML values are not copied into ARGS; rules see them as XML'],
]);
