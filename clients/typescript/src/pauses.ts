/** Pauses between tries. */

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/**
 * Waits before the next try, the longer the more tries there were, and never as long as others do.
 *
 * @throws the signal's reason, once it is aborted.
 */
export async function pause(tries: number, signal?: AbortSignal): Promise<void> {
  const ms = Math.min(FIRST_MS * 2 ** tries, LONGEST_MS) * (0.5 + Math.random() / 2);
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake);
    if (signal?.aborted) wake();
  });
  signal?.throwIfAborted();
}
