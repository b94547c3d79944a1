/** HAProxy can't be reached, or there was no whole answer to judge. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}
