/** What stands within the <svg> of an icon of Tabler's, see `icons.ts` of this app. */
declare module 'icon:*' {
  const body: import('react').ReactElement;
  export default body;
}
