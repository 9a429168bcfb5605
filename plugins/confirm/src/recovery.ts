import { findSendable, type LedgerEntry, unlessUnreachable } from '@cinnabar/sdk';
import type { SendableChannels } from 'discord.js';
import type { ConfirmContext } from './context.js';
import { type Answer, answerFromLedger, endCard, endingFromLedger, fetchReaction, sendAnswer } from './outcomes.js';
import type { CardRecord } from './pending-cards.js';
import { type Ending, inert, lineOf, showsVerdict } from './render.js';

/* Updates cards that no call of this process waits for to the ledger's state: done, not run, or unknown. */

/** A record whose message was found. */
type PostedRecord = CardRecord & { readonly messageId: string };

/** A call of a card, and its row in the ledger. */
interface CallOnCard {
  readonly callId: string;
  readonly sentence: string;
  readonly cancelled?: string | undefined;
  readonly row: LedgerEntry | undefined;
}

const IN_PROGRESS: ReadonlySet<LedgerEntry['state']> = new Set(['proposed', 'pending', 'approved', 'executing']);

/** Updates every card of an earlier run, one after another. Updates that Discord does not accept yet are left to the outbox. */
export async function recoverCards(context: ConfirmContext): Promise<void> {
  const { cards, records, outbox, client, signal } = context;
  const left: (readonly [callId: string, record: CardRecord])[] = [];
  for await (const [callId, record] of records.all()) {
    // With several processes, each handles its own guilds.
    if (record.guildId === null || client.guilds.cache.has(record.guildId)) left.push([callId, record]);
  }
  const own = new Set(cards.all().map((card) => card.callId));
  for (const [callId, record] of left) {
    if (signal.aborted) return;
    if (!own.has(callId)) await outbox.put(callId, () => resolveRecord(context, callId, record));
  }
}

/**
 * Updates a card of this run whose call has ended without it, if it is recorded: posts the answer unless it was posted before, and edits the card.
 * @throws Discord's error
 */
export async function resolveCard(context: ConfirmContext, callId: string): Promise<void> {
  for await (const [id, record] of context.records.all()) {
    if (id === callId) return resolveRecord(context, callId, record, 'over');
  }
}

/** @param otherwise the ending of calls that the ledger does not have; by default found out from the member's reaction */
async function resolveRecord(
  context: ConfirmContext,
  callId: string,
  record: CardRecord,
  otherwise?: Ending,
): Promise<void> {
  const { ledger, records } = context;
  const { sentence = '', cancelled, also } = record;
  const calls: CallOnCard[] = [];
  for (const one of [{ callId, sentence, cancelled }, ...also]) {
    calls.push({ ...one, row: await ledger.get(one.callId) });
  }
  // The call is pending in this process, which ends it.
  if (calls.some(({ row }) => row !== undefined && IN_PROGRESS.has(row.state))) return;
  const channel = await findSendable(context.client, record.channelId);
  if (channel !== undefined) {
    const messageId = record.messageId ?? (await findCard(context, channel, record));
    if (messageId !== undefined) {
      await context.languages.speak(record, () =>
        showEnding(context, channel, { ...record, messageId }, calls, otherwise),
      );
    }
  }
  await records.delete(callId);
}

async function showEnding(
  context: ConfirmContext,
  channel: SendableChannels,
  record: PostedRecord,
  calls: readonly CallOnCard[],
  otherwise: Ending | undefined,
): Promise<void> {
  const { messageId, userId } = record;
  const endings: Ending[] = [];
  for (const { row } of calls) {
    endings.push(endingFromLedger(row) ?? otherwise ?? (await endingAfterRestart(channel, record, row)));
  }
  for (const { callId, ...answer } of answersTo(calls, endings)) {
    const options = { callId, userId, replyTo: messageId, sentAfter: messageId };
    // If the answer cannot be posted any more, the card still shows the ending.
    await unlessUnreachable(sendAnswer(context, channel, answer, options));
  }
  const [ending = 'over', ...others] = endings;
  const decidedBy = calls.find(({ row }) => row?.decidedBy !== undefined)?.row?.decidedBy;
  const verdict = decidedBy === undefined ? undefined : { approved: true, userId: decidedBy };
  const whole = others.every((other) => other === ending) ? ending : 'partly';
  await endCard(context.client, record, whole, showsVerdict(whole) ? verdict : undefined);
}

async function endingAfterRestart(
  channel: SendableChannels,
  { userId, messageId }: PostedRecord,
  row: LedgerEntry | undefined,
): Promise<Ending> {
  if (row?.decidedBy !== undefined) return 'pressed';
  const choice = await fetchReaction(channel, messageId, userId);
  if (choice !== undefined) return choice === 'approve' ? 'pressed' : 'cancelled';
  // Not timed out, even if it is late by now: while the bot is away, no member can decide.
  return 'restarted';
}

/** The answers to the calls of a card that an earlier process left; none if the card itself shows everything. If the outcomes differ, each call is named. */
function answersTo(
  calls: readonly CallOnCard[],
  endings: readonly Ending[],
): readonly (Answer & { readonly callId: string })[] {
  const answers = calls.map(({ row, cancelled }) => (row === undefined ? undefined : answerFromLedger(row, cancelled)));
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

/** Number of messages that are searched for a card that was never confirmed. */
const LOOKED_THROUGH = 100;

/** Finds a card whose delivery was not confirmed: the bot's own message with exactly this text, since then, that is no other card. */
async function findCard(
  { cards, records, client }: ConfirmContext,
  channel: SendableChannels,
  { after, content }: CardRecord,
): Promise<string | undefined> {
  const others = new Set<string>();
  for await (const [, { messageId }] of records.all()) if (messageId !== undefined) others.add(messageId);
  const since = await channel.messages.fetch({ after, limit: LOOKED_THROUGH, cache: false });
  return since.find(
    (one) =>
      one.author.id === client.user?.id &&
      one.content === content.trim() &&
      cards.on(one.id) === undefined &&
      !others.has(one.id),
  )?.id;
}
