import { localDay, t, z } from '@cinnabar/sdk';
import type { RelayContext } from './context.js';
import { rulesIn } from './settings.js';

/** The usage of a guild's agents, by day. */
export const days = {
  scope: 'guild',
  version: 1,
  schema: z.object({
    day: z.string().default(''),
    turns: z.number().default(0),
    tokens: z.number().default(0),
    wakes: z.number().default(0),
  }),
} as const;
type Day = z.output<typeof days.schema>;

export type Budget = ReturnType<typeof createBudget>;

/** Limits a guild's usage per day, in its time zone. Direct messages have no budget. */
export function createBudget({ collections: { days: stored }, settings, services: { clock } }: RelayContext) {
  const dayIn = async (guildId: string) => localDay(clock.now(), (await rulesIn(settings, guildId)).timeZone);
  const startDay = (draft: Day, day: string) => {
    if (draft.day !== day) Object.assign(draft, { day, turns: 0, tokens: 0, wakes: 0 });
  };
  const today = async (guildId: string): Promise<Day> => {
    const day = await dayIn(guildId);
    const known = await stored.of(guildId).get();
    return known.day === day ? known : { day, turns: 0, tokens: 0, wakes: 0 };
  };
  return {
    today,
    /** A sentence for people when the day's budget is used up; otherwise `undefined`. */
    async refusal(guildId: string | null): Promise<string | undefined> {
      if (guildId === null) return undefined;
      const { dayTurns, dayTokens } = await rulesIn(settings, guildId);
      if (dayTurns === 0 && dayTokens === 0) return undefined;
      const { turns, tokens } = await today(guildId);
      if (dayTurns > 0 && turns >= dayTurns) return spent(`${dayTurns} messages`);
      return dayTokens > 0 && tokens >= dayTokens ? spent(`${dayTokens} tokens`) : undefined;
    },
    async spend(guildId: string | null, tokens: number): Promise<void> {
      if (guildId === null) return;
      const day = await dayIn(guildId);
      await stored.of(guildId).update((draft) => {
        startDay(draft, day);
        draft.turns += 1;
        draft.tokens += tokens;
      });
    },
    /** Counts a wake-up against the day's limit; `false` when the limit is reached. */
    async takeWake(guildId: string): Promise<boolean> {
      const { wakesPerDay } = await rulesIn(settings, guildId);
      const day = await dayIn(guildId);
      let taken = false;
      await stored.of(guildId).update((draft) => {
        startDay(draft, day);
        taken = draft.wakes < wakesPerDay;
        if (taken) draft.wakes += 1;
      });
      return taken;
    },
  };
}

function spent(what: string): string {
  return t(
    'The agents of this server have reached their daily limit ({what}). They continue tomorrow; admins can raise the limit with `relay config`.',
    { what },
  );
}
