import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Plugin } from 'vite';

const PREFIX = 'icon:';
/** An opening, closing or empty element. There is no text between them. */
const TAG = /<(\/?)(\w+)((?:\s+[\w-]+="[^"]*")*)\s*(\/?)>/y;
const ATTRIBUTE = /([\w-]+)="([^"]*)"/g;

/** Tabler's icons in one file: the package made for React is 18,000 of them, two fifths of all that an installation consists of. */
const readIcons = (): Record<string, { body: string }> => {
  const path = createRequire(import.meta.url).resolve('@iconify-json/tabler/icons.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { icons: Record<string, { body: string }> }).icons;
};

const inReact = (attribute: string): string => attribute.replace(/-[a-z]/g, ([, letter = '']) => letter.toUpperCase());

/** Calls of `element` that make what an icon consists of. Throws for what is none. */
const callsOf = (body: string): string => {
  let calls = '';
  let at = 0;
  while (at < body.length) {
    TAG.lastIndex = at;
    const [tag, closing, name, attributes = '', empty] = TAG.exec(body) ?? [];
    if (tag === undefined) throw new Error(`an icon is no list of elements: ${body}`);
    const given = [...attributes.matchAll(ATTRIBUTE)].map(([, key = '', value]) => [inReact(key), value]);
    if (closing) calls += '),';
    else calls += `element(${JSON.stringify(name)},${JSON.stringify(Object.fromEntries(given))},${empty ? '),' : ''}`;
    at += tag.length;
  }
  return calls;
};

let all: ReturnType<typeof readIcons> | undefined;

/** Makes `icon:copy` a module whose default export is what stands within the <svg> of that icon, 24 by 24, for React. */
export const icons: Plugin = {
  name: 'icons',
  resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : undefined),
  load(id) {
    if (!id.startsWith(`\0${PREFIX}`)) return undefined;
    const name = id.slice(PREFIX.length + 1);
    all ??= readIcons();
    const icon = Object.hasOwn(all, name) ? all[name] : undefined;
    if (!icon) return this.error(`there is no icon ${name}`);
    const children = callsOf(icon.body);
    return `import { createElement as element, Fragment } from 'react';\nexport default element(Fragment, null, ${children});`;
  },
};
