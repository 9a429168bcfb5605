/** Whether it is the name of a time zone in the IANA database, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The calendar day in a time zone: `2026-01-31`. */
export function localDay(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);
}

/** Minutes since midnight in a time zone. */
export function localMinutes(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', minute: 'numeric', hourCycle: 'h23' });
  const part = (type: string) => Number(format.formatToParts(at).find((one) => one.type === type)?.value ?? 0);
  return part('hour') * 60 + part('minute');
}

/** `22:00-07:00`, or nothing. */
export const QUIET_HOURS = /^(?:(?:[01]?\d|2[0-3]):[0-5]\d-(?:[01]?\d|2[0-3]):[0-5]\d)?$/;

export interface QuietHours {
  /** `22:00-07:00` goes over midnight; empty, or two times that are the same, means never. */
  readonly quietHours: string;
  readonly timeZone: string;
}

/** Whether a moment is within the quiet hours. */
export function isQuiet(at: number, { quietHours, timeZone }: QuietHours): boolean {
  const [from, to] = quietHours.split('-').map(minutesOf);
  if (from === undefined || to === undefined || from === to) return false;
  const now = localMinutes(at, timeZone);
  return from < to ? now >= from && now < to : now >= from || now < to;
}

function minutesOf(time: string): number | undefined {
  const [hours, minutes] = time.split(':').map(Number);
  return hours === undefined || minutes === undefined ? undefined : hours * 60 + minutes;
}
