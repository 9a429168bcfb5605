import { type Clock, isUnreachable, type Ledger, type LedgerEntry, type Logger } from '@cinnabar/sdk';
import type { Client, SendableChannels } from 'discord.js';
import type { CardRecord, Outbox, Records } from './card-records.js';
import { answerTo, wasCancelled } from './decisions.js';
import { REASONS } from './expiry.js';
import { type Answer, channelOf, endCard, give, pressedBy } from './messages.js';
import type { Board } from './pending-cards.js';
import { type Ending, inert, lineOf, showsVerdict } from './render.js';

interface Parts {
  readonly board: Board;
  readonly records: Records;
  readonly outbox: Outbox;
  readonly ledger: Ledger;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Brings cards that nothing in this process waits for to the state that the ledger knows: done, not run, or unknown. */
export interface Recovery {
  /** Every card of an earlier run, one after another. What Discord does not take yet is left to the outbox. */
  all(): Promise<void>;
  /** One card of this run whose call has ended without it, where it is on record. Says what is to be said unless it was said before, and edits the card. @throws what Discord failed with */
  resolve(callId: string): Promise<void>;
}

/** How far back a card is looked for whose delivery was never confirmed. */
const LOOKED_THROUGH = 100;

export function createRecovery(parts: Parts): Recovery {
  const { board, records, outbox, ledger, client, clock, signal } = parts;

  const resolve = async (callId: string, record: CardRecord, otherwise?: Ending): Promise<void> => {
    const calls: CallOnCard[] = [];
    const { sentence = '', cancelled, also } = record;
    for (const one of [{ callId, sentence, cancelled }, ...also]) {
      calls.push({ ...one, row: await ledger.get(one.callId) });
    }
    // Open in this process: what it waits for will end it.
    if (calls.some(({ row }) => row !== undefined && IN_PROGRESS.has(row.state))) return;
    const channel = await channelOf(client, record.channelId);
    const messageId = channel === undefined ? undefined : (record.messageId ?? (await lookFor(channel, record)));
    if (channel !== undefined && messageId !== undefined)
      await show(channel, { ...record, messageId }, calls, otherwise);
    await records.delete(callId);
  };

  const show = async (
    channel: SendableChannels,
    record: CardRecord & { readonly messageId: string },
    calls: readonly CallOnCard[],
    otherwise: Ending | undefined,
  ) => {
    const { messageId, userId } = record;
    const endings: Ending[] = [];
    for (const { row } of calls) {
      endings.push(endingIn(row) ?? otherwise ?? (await endingAfterRestart(channel, record, row)));
    }
    for (const { callId, ...answer } of answersTo(calls, endings)) {
      await give({ client, clock, signal, sentAfter: messageId }, channel, { callId, userId }, answer, messageId).catch(
        (error: unknown) => {
          // Where nothing may be said any more, the card itself still tells.
          if (!isUnreachable(error)) throw error;
        },
      );
    }
    const [ending = 'over', ...others] = endings;
    const decidedBy = calls.find(({ row }) => row?.decidedBy !== undefined)?.row?.decidedBy;
    const verdict = decidedBy === undefined ? undefined : { approved: true, userId: decidedBy };
    const whole = others.every((other) => other === ending) ? ending : 'partly';
    await endCard(client, record, whole, showsVerdict(whole) ? verdict : undefined);
  };

  const endingAfterRestart = async (
    channel: SendableChannels,
    { userId, messageId }: CardRecord & { readonly messageId: string },
    row: LedgerEntry | undefined,
  ): Promise<Ending> => {
    if (row?.decidedBy !== undefined) return 'pressed';
    const choice = await pressedBy(channel, messageId, userId);
    if (choice !== undefined) return choice === 'approve' ? 'pressed' : 'cancelled';
    // It was cut short, however late it is by now: while the bot is away no member can decide.
    return 'restarted';
  };

  /** A card whose delivery was not confirmed: the bot's own message with that very text, since then, that is no other card. */
  const lookFor = async (channel: SendableChannels, { after, content }: CardRecord): Promise<string | undefined> => {
    const others = new Set<string>();
    for await (const [, { messageId }] of records.all()) if (messageId !== undefined) others.add(messageId);
    const since = await channel.messages.fetch({ after, limit: LOOKED_THROUGH, cache: false });
    return since.find(
      (one) =>
        one.author.id === client.user?.id &&
        one.content === content.trim() &&
        board.on(one.id) === undefined &&
        !others.has(one.id),
    )?.id;
  };

  return {
    async all() {
      const left: (readonly [callId: string, record: CardRecord])[] = [];
      for await (const [callId, record] of records.all()) {
        // With several processes, each looks after its own guilds.
        if (record.guildId === null || client.guilds.cache.has(record.guildId)) left.push([callId, record]);
      }
      const own = new Set([...board.all()].map((card) => card.callId));
      for (const [callId, record] of left) {
        if (signal.aborted) return;
        if (!own.has(callId)) await outbox.put(callId, () => resolve(callId, record));
      }
    },
    async resolve(callId) {
      for await (const [id, record] of records.all()) if (id === callId) return resolve(callId, record, 'over');
    },
  };
}

/** A call of a card, and what the ledger knows of it. */
interface CallOnCard {
  readonly callId: string;
  readonly sentence: string;
  readonly cancelled?: string | undefined;
  readonly row: LedgerEntry | undefined;
}

/**
 * What is said of the calls of a card that an earlier process left; nothing where the card itself says it all. Of several that ended
 * differently each is named.
 */
function answersTo(
  calls: readonly CallOnCard[],
  endings: readonly Ending[],
): readonly (Answer & { readonly callId: string })[] {
  const answers = calls.map(({ row, cancelled }) => (row === undefined ? undefined : answerTo(row, cancelled)));
  const [first] = calls;
  if (first === undefined || answers.every((answer) => answer === undefined)) return [];
  const alone = calls.flatMap(({ callId }, index) => {
    const answer = answers[index];
    return answer?.audience === undefined ? [] : [{ ...answer, callId }];
  });
  const lines = calls.flatMap(({ sentence }, index) => {
    const answer = answers[index];
    if (answer === undefined) return [`${inert(sentence)}: ${lineOf(endings[index] ?? 'over')}`];
    return answer.audience === undefined ? [answer.text] : [];
  });
  return [...(lines.length === 0 ? [] : [{ callId: first.callId, text: lines.join('\n') }]), ...alone];
}

const IN_PROGRESS: ReadonlySet<LedgerEntry['state']> = new Set(['proposed', 'pending', 'approved', 'executing']);

/** Ends that this plugin gives itself, and that a card shows as they are. */
const REASONS_SHOWN = ['timedOut', 'withdrawn', 'undelivered'] as const;

/** How a card ends as far as the ledger alone says. */
function endingIn(row: LedgerEntry | undefined): Ending | undefined {
  // It had a row before its card was posted: with the row, it is lost whether it ran.
  if (row === undefined) return 'unknown';
  switch (row.state) {
    case 'done':
    case 'failed':
    case 'unknown':
      return row.state;
    case 'denied':
      return wasCancelled(row) ? 'cancelled' : 'refused';
    default:
      return REASONS_SHOWN.find((key) => REASONS[key] === row.reason);
  }
}
