const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['w', 604_800_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];
const MS_BY_UNIT = new Map(UNITS);
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|[wdhms]))+$/i;
const PART = /(\d+(?:\.\d+)?)(ms|[wdhms])/gi;

/** `90s`, `1h30m`, `1.5d` in milliseconds; `undefined` for anything else, a number without a unit included. */
export function parseDuration(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    total += Number(amount) * (MS_BY_UNIT.get(unit?.toLowerCase() ?? '') ?? 0);
  }
  return Math.round(total);
}

/** The shortest form that `parseDuration` reads back: `5400000` is `1h30m`. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = '';
  for (const [unit, size] of UNITS) {
    const amount = Math.floor(rest / size);
    if (amount > 0) text += `${amount}${unit}`;
    rest -= amount * size;
  }
  return text === '' ? '0s' : text;
}
