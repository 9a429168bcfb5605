import { type Clock, type Collection, z } from '@cinnabar/sdk';
import type { PersonaSettings } from '../settings.js';
import { isQuiet } from './quiet-hours.js';

const initiative = z.object({
  /** The day (UTC) that `used` is of. */
  day: z.string().default(''),
  used: z.number().default(0),
  /** When the timer last went off; 0: it has not been set yet. */
  timerAt: z.number().default(0),
});
export type Initiative = z.output<typeof initiative>;

/** To be declared among the plugin's collections. */
export const initiatives = { scope: 'guild', version: 1, schema: initiative } as const;

/** What a persona may do in a guild without being asked. */
export interface Allowance {
  /** Takes one run out of the day's budget. `false` when there is none, or the hours are quiet. Written before anything is done. */
  take(guildId: string, settings: PersonaSettings): Promise<boolean>;
  /** Whether the timer has run down; it is wound up again then. */
  timerDue(guildId: string, settings: PersonaSettings): Promise<boolean>;
}

const MINUTE_MS = 60_000;

export function createAllowance(collection: Collection<Initiative, 'guild'>, clock: Pick<Clock, 'now'>): Allowance {
  return {
    async take(guildId, settings) {
      if (isQuiet(settings, clock.now())) return false;
      const today = new Date(clock.now()).toISOString().slice(0, 10);
      let taken = false;
      await collection.of(guildId).update((draft) => {
        const used = draft.day === today ? draft.used : 0;
        taken = used < settings.dayBudget;
        if (taken) Object.assign(draft, { day: today, used: used + 1 });
      });
      return taken;
    },
    async timerDue(guildId, { timerMinutes }) {
      const { timerAt } = await collection.of(guildId).get();
      if (timerAt !== 0 && clock.now() - timerAt < timerMinutes * MINUTE_MS) return false;
      await collection.of(guildId).update((draft) => {
        draft.timerAt = clock.now();
      });
      return timerAt !== 0;
    },
  };
}
