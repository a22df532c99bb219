/** Readings that are asked for more often than they are worth. */

/**
 * Returns a reading of which one runs and one waits at most: who asks while one runs gets the next,
 * which sees all that had happened by then.
 */
export function coalesced(read: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = () => {
    running = read().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (!running) return run();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return run();
      });
    return next;
  };
}
