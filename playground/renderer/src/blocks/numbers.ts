/** How a number is written for a person. */

/**
 * Tells whether the thousands of numbers that belong together are parted from the rest.
 *
 * Not where all of them have four digits: they may well be years, and "2,026" is none.
 */
export function isGrouped(numbers: readonly number[]): boolean {
  return numbers.some(
    (number) => !Number.isInteger(number) || Math.abs(number) < 1000 || Math.abs(number) > 9999,
  );
}

/**
 * Returns a number as a person reads it, with every digit that it has.
 *
 * `exact` is the JSON text of a number that a double can't tell whole, empty where it can.
 */
export function numberText(
  number: number,
  exact: string,
  useGrouping: boolean,
  locale?: string,
): string {
  if (exact === "") {
    return new Intl.NumberFormat(locale, {
      useGrouping,
      maximumSignificantDigits: 17,
    }).format(number);
  }
  const digits = /^-?\d+(?:\.(\d+))?$/.exec(exact);
  if (digits === null || (digits[1]?.length ?? 0) > 100) {
    return exact;
  }
  const fraction = digits[1]?.length ?? 0;
  return new Intl.NumberFormat(locale, {
    useGrouping,
    minimumFractionDigits: fraction,
    maximumFractionDigits: fraction,
  }).format(exact as `${number}`);
}

/** Returns a number in few letters, for the axis of a chart. */
export function shortNumber(number: number, locale?: string): string {
  return new Intl.NumberFormat(locale, {
    notation: Math.abs(number) >= 1000 ? "compact" : "standard",
    maximumSignificantDigits: 6,
    useGrouping: false,
  }).format(number);
}
