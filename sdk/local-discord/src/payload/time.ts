/** A time as Discord writes it. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('Z', '000+00:00');
}

export function isoTimeOrNull(timeMs: number | null | undefined): string | null {
  return timeMs === null || timeMs === undefined ? null : isoTime(timeMs);
}
