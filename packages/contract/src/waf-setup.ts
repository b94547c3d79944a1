import { Type } from './schema.ts';
import { WAF_BODY_LIMIT } from './values.ts';

/** Longest body that the firewall can be told to take: all of it is judged in one piece. */
export const MAX_BODY_LIMIT = 104_857_600;

const methods = (more: string) =>
  Type.String({
    minLength: 1,
    maxLength: 1_024,
    description: `Comma-separated request methods that the Core Rule Set lets pass. ${more}`,
  });
const contentTypes = (more: string) =>
  Type.String({
    minLength: 3,
    maxLength: 16_384,
    description: `Comma-separated media types, without parameters, that the Core Rule Set lets pass as types of bodies; whatever the type, all other rules judge the body. ${more}`,
  });
const bodyLimit = (more: string) =>
  Type.Integer({
    minimum: 1_024,
    maximum: MAX_BODY_LIMIT,
    description: `Longest request body in bytes, after its compression is undone; longer ones are refused with 413. Each is judged whole, which takes memory and time. ${more}`,
  });

/** What the Core Rule Set leaves to its operator, as settings of the suite. */
export const wafSetup = {
  waf_allowed_methods: methods('Default GET, HEAD, POST, OPTIONS, PUT, PATCH and DELETE.'),
  waf_allowed_content_types: contentTypes(
    'Default: forms, JSON, XML, text, octet-stream, protobuf, ndjson and their like.',
  ),
  waf_body_limit: bodyLimit('Default 13107200. A SecRequestBodyLimit in the ruleset can only lower it.'),
};

/** The same for one host, in place of what the suite says. */
export const wafSetupOfHost = {
  waf_allowed_methods: Type.Union([methods("Default null: the suite's."), Type.Null()]),
  waf_allowed_content_types: Type.Union([contentTypes("Default null: the suite's."), Type.Null()]),
  waf_body_limit: Type.Union([bodyLimit("Default null: the suite's."), Type.Null()]),
};

const APPLICATION = [
  ...['x-www-form-urlencoded', 'xml', 'soap+xml', 'octet-stream', 'json', 'ld+json', 'hal+json', 'geo+json'],
  ...['vnd.api+json', 'problem+json', 'json-patch+json', 'merge-patch+json', 'activity+json', 'cloudevents+json'],
  ...['cloudevents-batch+json', 'csp-report', 'reports+json', 'json-seq', 'jsonl', 'ndjson', 'x-ndjson', 'graphql'],
  ...['graphql+json', 'protobuf', 'x-protobuf', 'vnd.google.protobuf', 'grpc', 'grpc+proto', 'grpc-web'],
  ...['grpc-web+proto', 'grpc-web-text', 'msgpack', 'x-msgpack', 'vnd.msgpack', 'cbor', 'yaml'],
];

/** With these an ordinary client works; the Core Rule Set's own defaults know neither PUT nor text. */
export const WAF_SETUP_DEFAULTS = {
  waf_allowed_methods: 'GET,HEAD,POST,OPTIONS,PUT,PATCH,DELETE',
  waf_allowed_content_types: [
    ...APPLICATION.map((name) => `application/${name}`),
    ...['multipart/form-data', 'multipart/related', 'multipart/mixed'],
    ...['text/plain', 'text/xml', 'text/csv', 'text/calendar', 'text/vcard'],
  ].join(','),
  waf_body_limit: WAF_BODY_LIMIT,
} as const;
