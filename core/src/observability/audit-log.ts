import { type AuditLog, type Clock, type Collection, type Logger, type PersonalData, z } from '@cinnabar/sdk';
import type { Logs } from './logs.js';

/** How many acts of a guild can be read in Discord; all are in the audit file for as long as that is kept. */
const KEPT = 300;
const LONGEST = 300;
const FORGOTTEN = '(deleted with the data of the member)';

export const auditSchema = z.object({
  acts: z
    .array(
      z.object({
        at: z.number(),
        userId: z.string(),
        channelId: z.string(),
        act: z.string(),
        outcome: z.enum(['done', 'denied', 'refused', 'failed']),
        reason: z.string().optional(),
      }),
    )
    .default([]),
});

export interface AuditLogService extends AuditLog {
  readonly personalData: PersonalData;
}

interface Parts {
  readonly documents: Collection<z.output<typeof auditSchema>, 'guild'>;
  readonly logs: Pick<Logs, 'audit' | 'redactor'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** Writes acts to the audit file, and the latest of each guild to where they can be read in Discord. */
export function createAuditLog({ documents, logs, clock, log }: Parts): AuditLogService {
  return {
    record({ actor, act, outcome, reason }) {
      const written = {
        at: clock.now(),
        userId: actor.userId,
        channelId: actor.channelId,
        act: short(logs.redactor.text(act)),
        outcome,
        ...(reason === undefined ? {} : { reason: short(logs.redactor.text(reason)) }),
      };
      logs.audit({ ...written, guildId: actor.guildId });
      if (actor.guildId === null) return;
      documents
        .of(actor.guildId)
        .update((draft) => {
          draft.acts = [...draft.acts, written].slice(-KEPT);
        })
        .catch((error: unknown) => log.error('an act could not be written to the audit', { ...written, error }));
    },
    async recent(guildId, limit) {
      const { acts } = await documents.of(guildId).get();
      return acts.slice(-limit).reverse();
    },
    personalData: {
      export: async () => ({}),
      async forget(userId) {
        for await (const [guildId, { acts }] of documents.entries()) {
          if (!acts.some((one) => one.userId === userId)) continue;
          await documents.of(guildId).update((draft) => {
            draft.acts = draft.acts.map((one) =>
              one.userId === userId ? { ...one, act: FORGOTTEN, reason: undefined } : one,
            );
          });
        }
      },
      stays: ['that you did something for a server as its admin, or were refused it, and when; without your words'],
    },
  };
}

const short = (text: string): string => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`);
