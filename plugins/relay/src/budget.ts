import { type Clock, type Collection, localDay, z } from '@cinnabar/sdk';
import { type RelaySettings, rulesIn } from './settings.js';

/** What a guild's agents have used in a day. */
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

/** A guild's budgets for a day, by its own time zone. Direct messages have none. */
export interface Budget {
  today(guildId: string): Promise<Day>;
  /** A sentence when there is nothing left. */
  refusal(guildId: string | null): Promise<string | undefined>;
  spend(guildId: string | null, tokens: number): Promise<void>;
  /** Counts a wake-up; `false` when there were enough today. */
  takeWake(guildId: string): Promise<boolean>;
}

interface BudgetParts {
  readonly days: Collection<Day, 'guild'>;
  readonly settings: RelaySettings;
  readonly clock: Clock;
}

export function createBudget({ days: kept, settings, clock }: BudgetParts): Budget {
  const dayIn = async (guildId: string) => localDay(clock.now(), (await rulesIn(settings, guildId)).timeZone);
  const fresh = (draft: Day, day: string) => {
    if (draft.day !== day) Object.assign(draft, { day, turns: 0, tokens: 0, wakes: 0 });
  };
  const today = async (guildId: string): Promise<Day> => {
    const day = await dayIn(guildId);
    const known = await kept.of(guildId).get();
    return known.day === day ? known : { day, turns: 0, tokens: 0, wakes: 0 };
  };
  return {
    today,
    async refusal(guildId) {
      if (guildId === null) return undefined;
      const { dayTurns, dayTokens } = await rulesIn(settings, guildId);
      if (dayTurns === 0 && dayTokens === 0) return undefined;
      const { turns, tokens } = await today(guildId);
      if (dayTurns > 0 && turns >= dayTurns) return spent(`${dayTurns} messages`);
      return dayTokens > 0 && tokens >= dayTokens ? spent(`${dayTokens} tokens`) : undefined;
    },
    async spend(guildId, tokens) {
      if (guildId === null) return;
      const day = await dayIn(guildId);
      await kept.of(guildId).update((draft) => {
        fresh(draft, day);
        draft.turns += 1;
        draft.tokens += tokens;
      });
    },
    async takeWake(guildId) {
      const { wakesPerDay } = await rulesIn(settings, guildId);
      const day = await dayIn(guildId);
      let taken = false;
      await kept.of(guildId).update((draft) => {
        fresh(draft, day);
        taken = draft.wakes < wakesPerDay;
        if (taken) draft.wakes += 1;
      });
      return taken;
    },
  };
}

function spent(what: string): string {
  return `The agents of this server have used up what they may in a day (${what}). They go on tomorrow; admins can raise it with \`relay config\`.`;
}
