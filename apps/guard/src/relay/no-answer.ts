/** HAProxy can't be reached. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

/** The origin's answer ended before the part of it that is judged. */
export class BrokenAnswer extends Error {
  override name = 'BrokenAnswer';
}
