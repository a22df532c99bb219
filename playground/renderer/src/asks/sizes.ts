/** Sizes of files, as people read them. */

const UNITS = ["bytes", "KB", "MB", "GB"];

/** Returns a number of bytes as "820 bytes" or "1.4 MB". */
export function sizeOf(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && size < 10 ? 1 : 0;
  return `${size.toFixed(digits)} ${bytes === 1 ? "byte" : UNITS[unit]}`;
}
