import { Card, createTheme, type MantineColorsTuple } from '@mantine/core';

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

/** What warns, what failed and what waits: as the accent, step 6 is read on its own tint. */
const yellow: MantineColorsTuple = [
  '#fdf6e3',
  '#f9ebc4',
  '#f2d98a',
  '#e9c44f',
  '#dcae26',
  '#b98a0e',
  '#7d5600',
  '#6b4a00',
  '#543a00',
  '#3d2a00',
];

const red: MantineColorsTuple = [
  '#fdeeee',
  '#f9d9d9',
  '#f2b1b0',
  '#ec8886',
  '#e66865',
  '#d8443f',
  '#b3261e',
  '#941d17',
  '#761712',
  '#57100c',
];

const blue: MantineColorsTuple = [
  '#eaf2fb',
  '#d3e4f6',
  '#a5c7ec',
  '#76aae2',
  '#5592d9',
  '#2f78c8',
  '#1d5ca3',
  '#174b86',
  '#113a69',
  '#0b294b',
];

export const theme = createTheme({
  primaryColor: 'verdigris',
  primaryShade: 6,
  colors: { verdigris, gray: slate, dark, yellow, red, blue },
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
  // A part of a screen looks the same whichever of the two it is made of.
  components: { Card: Card.extend({ defaultProps: { bg: 'body' } }) },
});
