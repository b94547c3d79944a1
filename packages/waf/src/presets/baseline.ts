import type { RuleSource } from '../model/rule-set.ts';

/**
 * What a web server's own configuration adds to a rule set such as CRS: bodies are inspected, JSON and XML get their parsers, rules on
 * REQUEST_BODY see XML and multipart too, and a body that cannot be read the way an application would read it is refused. Put it
 * before the rules. Ids 9500000–9500099.
 */
export const baselineRules: RuleSource = {
  path: 'baseline',
  text: `SecRuleEngine On
SecRequestBodyAccess On
SecRequestBodyLimit 13107200
SecRequestBodyNoFilesLimit 13107200
SecRequestBodyLimitAction Reject
SecResponseBodyAccess On
SecResponseBodyMimeType text/plain text/html text/xml application/json
SecResponseBodyLimit 1048576
SecResponseBodyLimitAction ProcessPartial

SecRule REQUEST_HEADERS:Content-Type "@rx ^[^/;,\\s]+/(?:[^;,\\s]+\\+)?xml\\s*(?:;|$)" \\
  "id:9500000,phase:1,pass,nolog,t:none,t:lowercase,ctl:requestBodyProcessor=XML,ctl:forceRequestBodyVariable=On"
SecRule REQUEST_HEADERS:Content-Type "@rx ^[^/;,\\s]+/(?:[^;,\\s]+\\+)?(?:x-)?json\\s*(?:;|$)" \\
  "id:9500001,phase:1,pass,nolog,t:none,t:lowercase,ctl:requestBodyProcessor=JSON"
SecRule REQUEST_HEADERS:Content-Type "@beginsWith multipart/form-data" \\
  "id:9500002,phase:1,pass,nolog,t:none,t:lowercase,ctl:forceRequestBodyVariable=On"

SecRule REQBODY_ERROR "!@eq 0" \\
  "id:9500010,phase:2,deny,status:400,log,t:none,msg:'The request body cannot be parsed',logdata:'%{REQBODY_ERROR_MSG}',severity:'CRITICAL',tag:'attack-protocol'"
SecRule MULTIPART_STRICT_ERROR "!@eq 0" \\
  "id:9500011,phase:2,deny,status:400,log,t:none,msg:'The multipart body is not well formed',severity:'CRITICAL',tag:'attack-protocol'"
SecRule MULTIPART_UNMATCHED_BOUNDARY "@eq 1" \\
  "id:9500012,phase:2,deny,status:400,log,t:none,msg:'The multipart body has an unmatched boundary',severity:'CRITICAL',tag:'attack-protocol'"
SecRule &REQUEST_HEADERS:Content-Type "@gt 1" \\
  "id:9500013,phase:2,deny,status:400,log,t:none,msg:'The request names more than one type for its body',severity:'CRITICAL',tag:'attack-protocol'"
SecRule REQUEST_HEADERS:Content-Type "@rx charset(?!\\s*=\\s*[\\"']?(?:utf-?8|(?:us-)?ascii|(?:iso-?)?8859-\\d{1,2}|latin1|(?:windows-|cp)125\\d)[\\"']?\\s*(?:;|$))" \\
  "id:9500014,phase:2,deny,status:400,log,t:none,t:lowercase,msg:'The body is in an encoding that is not read here',severity:'CRITICAL',tag:'attack-protocol'"
`,
};
