/** Where Debian's Caddy 2.6.2 and we differ in the corpus, and why; by the name of the case. */
export const DIFFERENCES: Readonly<Record<string, string>> = {
  'comma with spaces around it':
    '2.6.2 takes the comma for an address of its own, for all hosts; later versions do as we do',
  'scheme ftp': 'later versions refuse it, too',
  'scheme wss': 'later versions refuse it, too',
  'trailing dot':
    'Caddy gets no certificate for such a name; to DNS it is the same name, and we need no certificate to read it',
  'names that differ in case only':
    'Caddy merges both sites, so that the second never answers; we say that it is there twice',
  'exact path before the same with a wildcard': 'the order of paths has changed since; we have that of later versions',
  'paths of one length': 'the order of paths has changed since; we have that of later versions',
  'path and star': 'the order of paths has changed since; we have that of later versions',
  'matcher without a name': 'the documentation wants a name',
  'quoted braces': '2.6.2 takes them for the braces of a block; later versions do as we do',
  "directive's brace on a line of its own": 'later versions refuse it, too',
  'unclosed directive': '2.6.2 does not notice that a brace is missing; later versions refuse it, too',
  'unknown directive': 'this Caddy has no plugins, others have: we say what we do not know, and read on',
  'unknown directive of a plugin': 'this Caddy has no plugins, others have: we say what we do not know, and read on',
  'upstream ftp': 'later versions refuse it, too',
  'upstream wss': 'later versions refuse it, too',
  'port range backwards': '2.6.2 knows no ranges and finds out when it connects; later versions refuse it, too',
  'IPv6 upstream in brackets without a port': '2.6.2 puts brackets around the brackets; later versions do as we do',
  'upstream port is a word': '2.6.2 finds out when it connects; later versions refuse it, too',
  'upstream port too large': '2.6.2 finds out when it connects; later versions refuse it, too',
};
