import { spawnSync } from 'node:child_process';

/** One match as Perl reports it: `@-` and `@+` interleaved, -1 for groups that took no part. */
export type PerlMatch = number[];

const script = String.raw`
use strict; use warnings; no warnings 'regexp';
binmode STDIN; binmode STDOUT;
my @subjects;
while (my $line = <STDIN>) {
  chomp $line;
  my ($kind, $hex) = split / /, $line, 2;
  if ($kind eq 'S') { push @subjects, pack('H*', $hex // ''); next }
  my $source = pack('H*', $hex // '');
  my $pattern = eval { qr/$source/s };
  if (!defined $pattern) { my $why = $@; $why =~ s/\n.*//s; print "E $why\n"; next }
  my @found;
  for my $index (0 .. $#subjects) {
    next unless $subjects[$index] =~ $pattern;
    my @offsets;
    for my $group (0 .. $#+) {
      push @offsets, defined $-[$group] && defined $+[$group] ? ($-[$group], $+[$group]) : (-1, -1);
    }
    push @found, join(',', $index, @offsets);
  }
  print 'M ', join(';', @found), "\n";
}
`;

/** Perl's plain dollar also matches before a final newline; SecLang's default does not. */
const dollarAsEnd = (source: string): string =>
  source.replace(/\(\?m:\$\)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]|\$/g, (token) =>
    token === '$' ? '\\z' : token,
  );

/**
 * Matches every pattern against every subject (Latin-1) in one Perl process, as bytes with dotall. Gives, for each
 * pattern, the matches by subject index, or the reason why Perl refused the pattern.
 */
export const matchWithPerl = (sources: string[], subjects: string[]): (Map<number, PerlMatch> | string)[] => {
  const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex');
  const input = [
    ...subjects.map((subject) => `S ${hex(subject)}`),
    ...sources.map((source) => `P ${hex(dollarAsEnd(source))}`),
  ].join('\n');
  const { stdout, stderr, status } = spawnSync('perl', ['-e', script], {
    input: `${input}\n`,
    maxBuffer: 1024 ** 3,
    encoding: 'latin1',
  });
  if (status !== 0) throw new Error(`perl failed: ${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => {
      if (line.startsWith('E ')) return line.slice(2);
      const matches = new Map<number, PerlMatch>();
      for (const found of line.slice(2).split(';').filter(Boolean)) {
        const [index, ...offsets] = found.split(',').map(Number);
        matches.set(index!, offsets);
      }
      return matches;
    });
};
