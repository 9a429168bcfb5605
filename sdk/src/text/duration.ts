const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];
const MS_BY_UNIT = new Map(UNITS);
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|[wdhms]))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|[wdhms])/g;

/** `90s`, `1h30m`, `1.5d`, `1h 30m`, `2w` in milliseconds; `undefined` for anything else. Only `0` needs no unit. */
export function parseDuration(text: string): number | undefined {
  const compact = text.replace(/\s+/g, '').toLowerCase();
  if (compact === '0') return 0;
  if (!WHOLE.test(compact)) return undefined;
  let total = 0;
  for (const [, amount, unit = ''] of compact.matchAll(PART)) total += Number(amount) * (MS_BY_UNIT.get(unit) ?? 0);
  return Math.round(total);
}

/** A form that `parseDuration` reads back: `5_400_000` is `1h30m`. Weeks only where they are whole: `2w`, but `30d`. */
export function formatDuration(durationMs: number): string {
  let rest = Math.max(0, Math.round(durationMs));
  let text = '';
  for (const [unit, size] of UNITS) {
    if (unit === 'w' && rest % size !== 0) continue;
    const amount = Math.floor(rest / size);
    if (amount > 0) text += `${amount}${unit}`;
    rest -= amount * size;
  }
  return text === '' ? '0s' : text;
}
