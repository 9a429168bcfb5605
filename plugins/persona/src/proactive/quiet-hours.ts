import type { PersonaSettings } from '../settings.js';

const HOUR_MS = 3_600_000;

/** Whether the persona is to keep quiet unless it is asked. Hours may go over midnight; none when both are the same. */
export function isQuiet(
  { quietFrom, quietTo, utcOffset }: Pick<PersonaSettings, 'quietFrom' | 'quietTo' | 'utcOffset'>,
  now: number,
): boolean {
  const hour = new Date(now + utcOffset * HOUR_MS).getUTCHours();
  if (quietFrom <= quietTo) return hour >= quietFrom && hour < quietTo;
  return hour >= quietFrom || hour < quietTo;
}
