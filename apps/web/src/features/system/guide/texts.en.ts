export const guide = {
  title: 'Guide',
  besides: 'Besides',
  onlyEnglish: 'This page is in English only.',
  ofThisVersion: 'Of Sallyport {{version}}, as it runs here.',
} as const;
