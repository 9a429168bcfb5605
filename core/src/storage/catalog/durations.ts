const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;
const PART = /(\d+(?:\.\d+)?)\s*(ms|[smhd])/gy;

/** `90s`, `10m`, `1h30m`, `2d`, `250ms` in milliseconds; `undefined` for anything else. A bare `0` needs no unit. */
export function parseDuration(text: string): number | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === '0') return 0;
  let total = 0;
  let end = 0;
  for (const [part, amount, unit] of wanted.replaceAll(/\s+/g, '').matchAll(PART)) {
    if (unit === 'ms' || unit === 's' || unit === 'm' || unit === 'h' || unit === 'd')
      total += Number(amount) * UNITS[unit];
    end += part.length;
  }
  return end > 0 && end === wanted.replaceAll(/\s+/g, '').length ? Math.round(total) : undefined;
}

/** 5_400_000 as `1h30m`. */
export function formatDuration(durationMs: number): string {
  let left = Math.max(0, Math.round(durationMs));
  let text = '';
  for (const [unit, size] of Object.entries(UNITS)) {
    const amount = Math.floor(left / size);
    if (amount > 0) text += `${amount}${unit}`;
    left -= amount * size;
  }
  return text === '' ? '0s' : text;
}
