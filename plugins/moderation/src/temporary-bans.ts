import { isForbidden, type ModerationCase } from '@cinnabar/sdk';
import type { CaseLog } from './case-log.js';
import type { Cases } from './cases.js';
import { banOf, caseTag, liftBan } from './evidence.js';
import type { ModerationContext } from './settings.js';

/** Longest delay of one timer; a longer wait uses several. */
const LONGEST_WAIT_MS = 24 * 3_600_000;
/** Delay before the next attempt when Discord fails or the bot lacks the permission. */
const TRY_AGAIN_MS = 10 * 60_000;

interface Waiting {
  readonly guildId: string;
  readonly one: ModerationCase;
  /** Time of the next attempt to lift the ban. */
  due: number;
}

/** Lifts bans when their time is over. The state is stored in the cases, so it survives a restart. */
export function createTemporaryBans(
  { client, services, log, after, signal }: ModerationContext,
  cases: Cases,
  caseLog: CaseLog,
) {
  const { clock } = services;
  const waiting = new Map<string, Waiting>();
  let disarm: (() => unknown) | undefined;
  const keyOf = (guildId: string, number: number) => `${guildId}-${number}`;

  const arm = () => {
    void disarm?.();
    disarm = undefined;
    if (waiting.size === 0 || signal.aborted) return;
    const next = Math.min(...[...waiting.values()].map(({ due }) => due));
    disarm = after(Math.min(Math.max(0, next - clock.now()), LONGEST_WAIT_MS), liftDue);
  };

  const end = async (guildId: string, number: number) => {
    waiting.delete(keyOf(guildId, number));
    const ended = await cases.change(guildId, number, (draft) => {
      draft.endedAt ??= clock.now();
    });
    if (ended !== undefined) await caseLog.publish(guildId, ended);
    await cases.close(guildId, number);
    arm();
  };

  const lift = async (entry: Waiting) => {
    const { guildId, one } = entry;
    const guild = client.guilds.cache.get(guildId);
    if (guild === undefined) {
      // The bot is not in the guild now, but may be added again.
      entry.due = clock.now() + LONGEST_WAIT_MS;
      return;
    }
    if (one.userId === undefined) return end(guildId, one.number);
    const ban = await banOf(guild, one.userId);
    // A later ban by a moderator is not lifted.
    if (ban?.reason?.startsWith(caseTag(one.number)) === true) {
      await liftBan(guild, one.userId, `${caseTag(one.number)} its time is over`);
    }
    return end(guildId, one.number);
  };

  const liftDue = async () => {
    const now = clock.now();
    for (const entry of [...waiting.values()].filter(({ due }) => due <= now)) {
      try {
        await lift(entry);
      } catch (error) {
        entry.due = clock.now() + TRY_AGAIN_MS;
        const problem = isForbidden(error) ? 'the bot may not lift it' : 'Discord did not answer';
        log.warn(`a temporary ban is over and could not be lifted: ${problem}; it is tried again in ten minutes`, {
          guildId: entry.guildId,
          number: entry.one.number,
          error,
        });
      }
    }
    arm();
  };

  return {
    /** Schedules the end of a temporary ban. */
    watch(guildId: string, one: ModerationCase): void {
      if (one.endedAt !== undefined || one.until === undefined) return;
      waiting.set(keyOf(guildId, one.number), { guildId, one, due: one.until });
      arm();
    },
    /** The case of a user's active temporary ban. */
    of: (guildId: string, userId: string): ModerationCase | undefined =>
      [...waiting.values()].find((entry) => entry.guildId === guildId && entry.one.userId === userId)?.one,
    /** Records that the temporary ban has ended. */
    end,
  };
}
export type TemporaryBans = ReturnType<typeof createTemporaryBans>;
