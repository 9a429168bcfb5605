import { hourIn, type LocalTime } from '../conversation/time.js';
import type { PersonaSettings } from '../settings.js';

/** Whether the persona is to keep quiet unless it is asked. Hours may go over midnight; none when both are the same. */
export function isQuiet(
  { quietFrom, quietTo, ...local }: Pick<PersonaSettings, 'quietFrom' | 'quietTo'> & LocalTime,
  now: number,
): boolean {
  const hour = hourIn(local, now);
  if (quietFrom <= quietTo) return hour >= quietFrom && hour < quietTo;
  return hour >= quietFrom || hour < quietTo;
}
