export const guide = {
  title: 'Guide',
  onlyEnglish: 'In English only.',
  ofThisVersion: 'Of Sallyport {{version}}, as it runs here.',
} as const;
