/** Lines of one turn of the event loop: a flood of attacks must not fill the memory of who takes them in. */
const LINES_PER_TURN = 100;

/** Says of each line whether it may still be told in this turn of the event loop. */
export const createLineLimit = (): (() => boolean) => {
  let left = LINES_PER_TURN;
  let isTurnEnding = false;
  return () => {
    if (!isTurnEnding) {
      isTurnEnding = true;
      setImmediate(() => {
        isTurnEnding = false;
        left = LINES_PER_TURN;
      });
    }
    return left-- > 0;
  };
};
