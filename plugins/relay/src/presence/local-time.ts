/** The calendar day somewhere: `2026-01-31`. */
export function localDay(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);
}

/** Minutes since midnight, by the clock on the wall there. */
function localMinutes(at: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', minute: 'numeric', hourCycle: 'h23' });
  const of = (type: string) => Number(parts.formatToParts(at).find((part) => part.type === type)?.value ?? 0);
  return of('hour') * 60 + of('minute');
}

/** Whether it is quiet: `22:00-07:00` goes over midnight; nothing, or two times that are the same, is never. */
export function isQuiet(
  at: number,
  { quietHours, timeZone }: { readonly quietHours: string; readonly timeZone: string },
) {
  const [from, to] = quietHours.split('-').map(minutesOf);
  if (from === undefined || to === undefined || from === to) return false;
  const now = localMinutes(at, timeZone);
  return from < to ? now >= from && now < to : now >= from || now < to;
}

function minutesOf(time: string): number | undefined {
  const [hours, minutes] = time.split(':').map(Number);
  return hours === undefined || minutes === undefined ? undefined : hours * 60 + minutes;
}
