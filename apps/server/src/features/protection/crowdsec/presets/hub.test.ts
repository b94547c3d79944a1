import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../../test/support/temporary-directory.ts';
import { chosenOf, type Hub, readHub } from './hub.ts';

const OF_HTTP = `filter: "evt.Meta.service == 'http'"`;

/** Reads a hub of these scenarios, by `author/file`, and this index. */
const read = (scenarios: Record<string, string>, index?: object): Promise<Hub> => {
  const result = Promise.withResolvers<Hub>();
  return withTemporaryDirectory(async (hub) => {
    mkdirSync(join(hub, 'scenarios'));
    for (const [path, text] of Object.entries(scenarios)) {
      mkdirSync(join(hub, 'scenarios', path, '..'), { recursive: true });
      writeFileSync(join(hub, 'scenarios', path), text);
    }
    if (index !== undefined) writeFileSync(join(hub, '.index.json'), JSON.stringify(index));
    result.resolve(readHub(hub));
  }).then(() => result.promise);
};

const namesOf = (scenarios: readonly { name: string }[]): string[] => scenarios.map(({ name }) => name).sort();

test('a scenario about what clients ask of a web server can be used, another one can not', async () => {
  const { scenarios, presets } = await read({
    'a/by-type.yaml': "filter: evt.Meta.log_type == 'http_access-log'",
    'a/by-service.yaml': OF_HTTP,
    'a/by-path.yaml': 'filter: evt.Meta.http_path contains x',
    'a/by-status.yaml': 'filter: evt.Meta.http_status == 404',
    'a/by-agent.yaml': 'filter: evt.Meta.http_user_agent == x',
    'a/ssh.yaml': "filter: evt.Meta.log_type == 'ssh_failed-auth'",
    'a/README.md': OF_HTTP,
  });
  expect(namesOf(scenarios)).toEqual(['a/by-agent', 'a/by-path', 'a/by-service', 'a/by-status', 'a/by-type']);
  expect(scenarios.find(({ name }) => name === 'a/by-type')).toMatchObject({
    ...{ file: 'a-by-type.yaml', description: '', lists: [] },
    path: expect.stringMatching(/\/scenarios\/a\/by-type\.yaml$/),
  });
  expect([...presets.keys()].sort()).toEqual([...namesOf(scenarios), 'a/ssh'].sort());
  expect(presets.get('a/ssh')).toEqual({ name: 'a/ssh', kind: 'scenario', description: '', scenarios: [] });
});

test('a scenario whose list is missing would stop the start, and is left out; one whose list has another name is not', async () => {
  const lists = (...names: string[]) =>
    `${OF_HTTP}\ndata:\n${names.map((name) => `  - source_url: x\n    dest_file: ${name}\n`).join('')}`;
  const { scenarios } = await read({
    'a/with.yaml': lists('http_path_traversal.txt', '"path_traversal.txt"'),
    'a/without.yaml': lists('path_traversal.txt', 'nobody-has-it.txt'),
  });
  expect(namesOf(scenarios)).toEqual(['a/with']);
  const at = '/usr/share/crowdsec/data/path_traversal.txt';
  expect(scenarios[0]?.lists).toEqual([
    ['http_path_traversal.txt', at],
    ['path_traversal.txt', at],
  ]);
});

test('a collection has the scenarios of those that it is made of, each once, though they name each other', async () => {
  const { presets } = await read(
    { 'a/one.yaml': OF_HTTP, 'a/two.yaml': OF_HTTP, 'a/ssh.yaml': '', 'b/own.yaml': OF_HTTP },
    {
      scenarios: {
        'a/one': { description: 'the first' },
        'a/ssh': { description: 'of another kind' },
        'a/two': { description: 7 },
      },
      collections: {
        'b/all': {
          description: 'all',
          scenarios: ['a/one', 'a/ssh', 'a/nothing', 7],
          collections: ['b/more', 'b/none'],
        },
        'b/more': { scenarios: ['a/two', 'a/one'], collections: ['b/all'] },
        'b/own': { scenarios: ['b/own'] },
        'b/empty': { scenarios: 'a/one' },
      },
    },
  );
  expect(presets.get('b/all')).toMatchObject({ kind: 'collection', description: 'all' });
  expect(presets.get('b/all')?.scenarios.map(({ name }) => name)).toEqual(['a/one', 'a/two']);
  expect(namesOf(presets.get('b/more')?.scenarios ?? [])).toEqual(['a/one', 'a/two']);
  expect(presets.get('b/more')?.description).toBe('');
  expect(presets.get('b/empty')?.scenarios).toEqual([]);
  // The collection, not the scenario of its name.
  expect(presets.get('b/own')).toMatchObject({ kind: 'collection', scenarios: [{ name: 'b/own' }] });
  expect(presets.get('a/one')).toMatchObject({ kind: 'scenario', description: 'the first' });
  expect(presets.get('a/ssh')).toMatchObject({ description: 'of another kind', scenarios: [] });
  expect(presets.get('a/two')?.description).toBe('');
});

test('all are in force but for what was taken back, and of several words about one the last counts', async () => {
  const hub = await read(
    { 'a/one.yaml': OF_HTTP, 'a/two.yaml': OF_HTTP, 'a/three.yaml': OF_HTTP },
    { collections: { 'b/both': { scenarios: ['a/one', 'a/two'] } } },
  );
  const chosen = (...choices: [string, boolean][]) =>
    namesOf(
      chosenOf(
        hub,
        choices.map(([preset, applied]) => ({ preset, applied })),
      ),
    );
  expect(chosen()).toEqual(['a/one', 'a/three', 'a/two']);
  expect(chosen(['a/nothing', false])).toHaveLength(3);
  expect(chosen(['b/both', false])).toEqual(['a/three']);
  expect(chosen(['b/both', false], ['a/one', true])).toEqual(['a/one', 'a/three']);
  expect(chosen(['a/one', true], ['b/both', false])).toEqual(['a/three']);
});
