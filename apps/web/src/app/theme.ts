import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** The one accent: the green of old copper. Step 6 on white and step 4 on dark reach 4.5:1. */
const verdigris: MantineColorsTuple = [
  '#e8f6f4',
  '#d0ebe7',
  '#a3d8d1',
  '#72c4ba',
  '#45aea3',
  '#229186',
  '#0b6e69',
  '#085b57',
  '#064a47',
  '#033a38',
];

/** Greys with a little of the accent in them. */
const slate: MantineColorsTuple = [
  '#f6f8f8',
  '#eef1f2',
  '#e4e9ea',
  '#d9dfe1',
  '#c8d0d3',
  '#a3adb1',
  '#5f6b71',
  '#46525a',
  '#323c42',
  '#1c2328',
];

const dark: MantineColorsTuple = [
  '#d3dadd',
  '#b3bcc0',
  '#909ba0',
  '#6c777c',
  '#444f55',
  '#323b40',
  '#262e32',
  '#1b2226',
  '#14191c',
  '#0d1113',
];

export const theme = createTheme({
  primaryColor: 'verdigris',
  primaryShade: 6,
  colors: { verdigris, gray: slate, dark },
  autoContrast: true,
  defaultRadius: 'sm',
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "Noto Sans Mono", "Liberation Mono", monospace',
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' }, h3: { fontSize: '1rem' } },
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
});
