export const guide = {
  title: 'Guide',
  besides: 'Besides',
  onlyEnglish: 'In English only.',
  ofThisVersion: 'Of Sallyport {{version}}, as it runs here.',
} as const;
