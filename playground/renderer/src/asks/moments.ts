/**
 * Days and times between the contract, which wants an offset, and the browser's control, which shows
 * the clock on the person's wall and knows none.
 */

/** Returns a moment (RFC 3339) as the local time that a `datetime-local` control shows; "" for none. */
export function toLocal(moment: string): string {
  const date = new Date(moment);
  if (moment === "" || Number.isNaN(date.getTime())) return "";
  const day = [pad(date.getFullYear(), 4), pad(date.getMonth() + 1), pad(date.getDate())].join("-");
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  const seconds = date.getSeconds() ? `:${pad(date.getSeconds())}` : "";
  return `${day}T${time}${seconds}`;
}

/** Returns the moment of a local time, with the offset which holds here at that time. */
export function toMoment(local: string): string {
  const date = new Date(local);
  if (local === "" || Number.isNaN(date.getTime())) return local;
  return `${local}${offsetAt(date)}`;
}

/** Returns the offset which holds here at some time, as in `+01:00`. */
export function offsetAt(date: Date): string {
  // Before there were time zones, the offset has seconds.
  const east = -Math.round(date.getTimezoneOffset());
  const minutes = Math.abs(east);
  return `${east < 0 ? "-" : "+"}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}

function pad(number: number, digits = 2): string {
  return String(number).padStart(digits, "0");
}
