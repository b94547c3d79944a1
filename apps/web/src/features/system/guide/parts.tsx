import { Anchor, Code, Image, List, Table, Text, Title } from '@mantine/core';
import { createElement, Fragment, type ReactNode } from 'react';
import { Link } from 'react-router';
import { WideTable } from '../../../ui/table/wide-table.tsx';
import type { Part, Words } from './document.ts';
import { pictureAt, placeOf } from './pages.ts';

/** So wide a table may want to be for each of its columns. */
const COLUMN_WIDTH = 150;

/** One after the other, as they stand in the file: pages never change, so none of them needs a key to be known again by. */
const each = <T,>(items: readonly T[], show: (item: T) => ReactNode): ReactNode =>
  createElement(Fragment, null, ...items.map(show));

const Word = ({ word, page }: { word: Words; page: string }) => {
  if (typeof word === 'string') return word;
  if (word.kind === 'code') return <Code style={{ overflowWrap: 'anywhere' }}>{word.text}</Code>;
  const inner = <Sentence words={word.words} page={page} />;
  if (word.kind === 'strong') return <strong>{inner}</strong>;
  if (word.kind === 'em') return <em>{inner}</em>;
  if (word.to.startsWith('https:')) {
    return (
      <Anchor href={word.to} target="_blank" rel="noreferrer" inherit underline="always">
        {inner}
      </Anchor>
    );
  }
  const place = placeOf(word.to, page);
  if (place === undefined) return inner;
  return (
    <Anchor component={Link} to={place} inherit underline="always">
      {inner}
    </Anchor>
  );
};

const Sentence = ({ words, page }: { words: readonly Words[]; page: string }) =>
  each(words, (word) => <Word word={word} page={page} />);

const PartOf = ({ part, page }: { part: Part; page: string }) => {
  switch (part.kind) {
    case 'heading':
      return (
        <Title order={Math.min(part.level, 6) as 2 | 3 | 4} id={part.id} mt="md" style={{ scrollMarginTop: 64 }}>
          <Sentence words={part.words} page={page} />
        </Title>
      );
    case 'paragraph':
      return (
        <Text size="sm" lh={1.6}>
          <Sentence words={part.words} page={page} />
        </Text>
      );
    case 'code':
      return (
        <Code block tabIndex={0}>
          {part.text}
        </Code>
      );
    case 'picture':
      return (
        <Image
          src={pictureAt(part.name)}
          alt={part.alt}
          loading="lazy"
          w="auto"
          maw="100%"
          mah={560}
          fit="contain"
          radius="sm"
          my="xs"
          bd="1px solid var(--mantine-color-default-border)"
        />
      );
    case 'list':
      return (
        <List type={part.isOrdered ? 'ordered' : 'unordered'} size="sm" spacing={4}>
          {each(part.items, (item) => (
            <List.Item>
              <Parts parts={item} page={page} />
            </List.Item>
          ))}
        </List>
      );
    case 'table': {
      const head = part.head.map((words) => each(words, (word) => <Word word={word} page={page} />));
      return (
        <WideTable label={page} minWidth={part.head.length * COLUMN_WIDTH} head={head}>
          {each(part.rows, (row) => (
            <Table.Tr>
              {each(row, (words) => (
                <Table.Td style={{ verticalAlign: 'top' }}>
                  <Sentence words={words} page={page} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </WideTable>
      );
    }
  }
};

/** Parts of a page of the guide, in their order. `page`: the page's name, from where its links lead. */
export const Parts = ({ parts, page }: { parts: readonly Part[]; page: string }) =>
  each(parts, (part) => <PartOf part={part} page={page} />);
