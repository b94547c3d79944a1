import type { RuleSource } from '../model/rule-set.ts';

type OwnRule = {
  readonly id: number;
  readonly targets: string;
  readonly test: string;
  readonly transformations: string;
  readonly message: string;
  readonly tag: string;
};

/** What User-Agent, Referer and cookies hold is looked at by CRS itself. */
const otherHeaders = 'REQUEST_HEADERS|!REQUEST_HEADERS:User-Agent|!REQUEST_HEADERS:Referer|!REQUEST_HEADERS:Cookie';
const addressHeaders = [
  ...['X-Forwarded-For', 'X-Forwarded-Host', 'X-Real-IP', 'X-Client-IP', 'Client-IP', 'True-Client-IP'],
  ...['CF-Connecting-IP', 'X-Originating-IP', 'X-Remote-IP', 'X-Remote-Addr', 'X-Host', 'Host', 'Origin', 'X-User-ID'],
]
  .map((name) => `REQUEST_HEADERS:${name}`)
  .join('|');
const everywhere = 'REQUEST_LINE|ARGS|ARGS_NAMES|REQUEST_COOKIES|REQUEST_HEADERS|XML:/*|XML://@*|FILES|FILES_NAMES';

const rules: readonly OwnRule[] = [
  {
    id: 9_530_000,
    targets: everywhere,
    // A look-up of Log4j, also spelled by look-ups within it: ${${lower:j}ndi:…}, ${j${::-nd}i:…}.
    test: '@rx \\$\\{\\s*(?:jndi|[^{}]{0,16}\\$\\{[^{}]{0,48}:[^{}]{0,48}\\})',
    transformations: 't:none,t:urlDecodeUni,t:htmlEntityDecode,t:lowercase',
    message: 'A look-up that Log4j resolves',
    tag: 'attack-rce',
  },
  {
    id: 9_530_001,
    targets: otherHeaders,
    test: '@detectXSS',
    transformations: 't:none,t:urlDecodeUni,t:removeNulls',
    message: 'Script in a header',
    tag: 'attack-xss',
  },
  {
    id: 9_530_002,
    targets: addressHeaders,
    test: '@detectSQLi',
    transformations: 't:none,t:urlDecodeUni,t:removeNulls',
    message: 'SQL in a header that names an address',
    tag: 'attack-sqli',
  },
  {
    id: 9_530_010,
    targets: 'XML://@*',
    test: '@detectSQLi',
    transformations: 't:none,t:urlDecodeUni,t:removeNulls',
    message: 'SQL in an attribute or processing instruction of XML',
    tag: 'attack-sqli',
  },
  {
    id: 9_530_011,
    targets: 'XML://@*',
    test: '@detectXSS',
    transformations: 't:none,t:urlDecodeUni,t:htmlEntityDecode,t:removeNulls',
    message: 'Script in an attribute or processing instruction of XML',
    tag: 'attack-xss',
  },
  {
    id: 9_530_012,
    targets: 'XML://@*',
    test: '@rx (?:^|[\\x5c/:=\\x22\\x27])\\.\\.[\\x5c/]+(?:\\.\\.|etc\\b|proc\\b|windows\\b|boot\\.ini|web-inf)|/etc/(?:passwd|shadow|hosts)\\b',
    transformations: 't:none,t:urlDecodeUni,t:lowercase,t:removeNulls',
    message: 'A path that leads out, in an attribute or processing instruction of XML',
    tag: 'attack-lfi',
  },
  {
    id: 9_530_013,
    targets: 'XML://@*',
    test: '@rx (?:php|phar|expect|netdoc|gopher|dict)://|<\\?php|\\$\\((?:id|whoami|curl|wget|cat|nc|bash|sh)\\b',
    transformations: 't:none,t:urlDecodeUni,t:lowercase,t:removeNulls',
    message: 'A wrapper or command that an interpreter runs, in an attribute or processing instruction of XML',
    tag: 'attack-rce',
  },
];

// CRS 3.3 and 4 name the score of the first level differently; each ignores the other's.
const scores = ['anomaly_score_pl1', 'inbound_anomaly_score_pl1']
  .map((name) => `setvar:'tx.${name}=+%{tx.critical_anomaly_score}'`)
  .join(',');

/**
 * Rules of ours for what the Core Rule Set has no target for: other headers than User-Agent and Referer, attributes and processing
 * instructions of XML. They add to CRS's score at paranoia level 1 and decide nothing by themselves, so they stand before its rules
 * and are left out like them. Ids 9530000–9530099.
 */
export const ownRules: RuleSource = {
  path: 'own-rules',
  text: rules
    .map(
      ({ id, targets, test, transformations, message, tag }) =>
        `SecRule ${targets} "${test}" \\\n  "id:${id},phase:2,pass,log,capture,${transformations},msg:'${message}',logdata:'%{MATCHED_VAR_NAME}',severity:'CRITICAL',tag:'${tag}',tag:'paranoia-level/1',${scores}"\n`,
    )
    .join(''),
};
