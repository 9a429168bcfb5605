import {
  type Clock,
  type ComponentHandle,
  isRefusal,
  isUnreachable,
  type Logger,
  type Outcome,
  permissionName,
  retryDiscord,
  type SettledOutcome,
  sendOnce,
  type ToolCall,
} from '@cinnabar/sdk';
import type { Client, PermissionsString, SendableChannels } from 'discord.js';
import type { Outbox, Records } from './card-records.js';
import {
  APPROVE,
  type Controls,
  controlsFor,
  type DecideHandle,
  dealToCards,
  FRESH,
  faceOf,
  REACTION_PERMISSIONS,
  REFUSE,
} from './controls.js';
import { type Expiry, REASONS } from './expiry.js';
import type { Allowance } from './grants.js';
import { missingPermission, NO_PINGS, type Place, placeOf } from './messages.js';
import { type Board, type Deliveries, type Request, requestsOf, type WaitingCard } from './pending-cards.js';
import type { Recovery } from './recovery.js';
import { inert } from './render.js';
import { decideWithinMs, type Rules } from './settings.js';

export interface AskingParts {
  readonly board: Board;
  readonly records: Records;
  readonly deliveries: Deliveries;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly buttons: DecideHandle;
  /** The menu of what to leave out of a card. */
  readonly exclusions: ComponentHandle;
  readonly expiry: Expiry;
  readonly outbox: Outbox;
  readonly recovery: Recovery;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
}

/** What is asked about. */
export interface Question {
  readonly call: ToolCall;
  /** Runs it, once it is approved. */
  run(): Promise<SettledOutcome>;
  readonly rules: Rules;
  readonly allowance: Allowance;
}
type Questions = readonly [Question, ...Question[]];

const NOTE =
  'Not run yet: waiting for the member to confirm with 👍, or cancel with 👎, on the card that was just posted. Do not claim that it ran.';
const ASK = 'ask for a confirmation';

/**
 * Posts the card of held calls of one member in one channel: one for all that fit on it. Whatever keeps it from being posted or shown in full
 * keeps the calls from running. Resolves with an outcome for each.
 */
export async function ask(parts: AskingParts, questions: Questions): Promise<ReadonlyMap<string, Outcome>> {
  const [{ call, rules }] = questions;
  const outcomes = new Map<string, Outcome>();
  const wanted = questions.filter((question) => !question.call.signal.aborted);
  for (const { call } of questions) outcomes.set(call.id, expired(call, REASONS.withdrawn));
  const place = await placeOf(parts.client, call.actor);
  if ('blockedBy' in place) {
    for (const { call } of wanted) outcomes.set(call.id, refused(call, ASK, place.blockedBy));
    return outcomes;
  }
  const missing = place.missing(...REACTION_PERMISSIONS);
  for (const dealt of dealToCards(wanted, rules.style, controlsOf(wanted, missing)?.notes ?? [])) {
    for (const outcome of await post(parts, dealt, place, missing)) outcomes.set(outcome.callId, outcome);
  }
  return outcomes;
}

/** One card. */
async function post(
  parts: AskingParts,
  questions: Questions,
  place: Exclude<Place, { blockedBy: unknown }>,
  missing: readonly PermissionsString[],
): Promise<readonly Outcome[]> {
  const [{ call, rules }] = questions;
  const controls = controlsOf(questions, missing);
  const draw = faceOf(questions, { ...parts, style: rules.style, controls });
  if (draw(FRESH).file !== undefined && place.missing('AttachFiles').length > 0) {
    return [refused(call, 'show everything that this would do', 'AttachFiles')];
  }
  const [first, ...others] = questions.map(requestOf);
  if (first === undefined) return [];
  try {
    const request = first.request;
    const delivery = { request, others: others.map((one) => one.request), rules, draw, channel: place.channel };
    const card = await parts.deliveries.track(call.actor.userId, deliver(parts, delivery));
    withdrawOnAbort(parts, card, first.settled);
    if (controls.reactions) await addReactions(parts, card, place.channel);
  } catch (error) {
    const lacking = missingPermission(error);
    if (lacking !== undefined) return questions.map((question) => refused(question.call, ASK, lacking));
    parts.log.error('a confirmation card could not be posted', { callId: call.id, error });
    // It may be in the channel all the same.
    parts.outbox.later(call.id, () => parts.recovery.resolve(call.id));
    return questions.map((question) => expired(question.call, REASONS.undelivered));
  }
  return [first, ...others].map(({ request, settled }) => ({
    status: 'deferred',
    callId: request.call.id,
    note: NOTE,
    settled,
  }));
}

function controlsOf(questions: Questions, missing: readonly PermissionsString[]): Controls;
function controlsOf(questions: readonly Question[], missing: readonly PermissionsString[]): Controls | undefined;
function controlsOf(questions: readonly Question[], missing: readonly PermissionsString[]): Controls | undefined {
  const [own, ...others] = questions.map(({ call, rules, allowance }) =>
    controlsFor(rules.controls, missing, call, allowance),
  );
  if (own === undefined) return undefined;
  return { ...own, notes: [...new Set([own, ...others].flatMap(({ notes }) => notes))] };
}

function expired({ id }: ToolCall, reason: string): SettledOutcome {
  return { status: 'expired', callId: id, reason };
}

function refused({ id }: ToolCall, what: string, missing: PermissionsString): SettledOutcome {
  const reason = `I cannot ${what} in that channel: I am missing the permission ${permissionName(missing)}. Nothing was run.`;
  return { status: 'denied', callId: id, reason };
}

function requestOf({ call, run, allowance }: Question) {
  let settle: Request['settle'] = () => undefined;
  const settled = new Promise<SettledOutcome>((resolve) => {
    settle = resolve;
  });
  const request: Request = { call, allowance, run, settle };
  return { request, settled };
}

interface Delivery extends Pick<WaitingCard, 'request' | 'others' | 'draw'> {
  readonly rules: Rules;
  readonly channel: SendableChannels;
}

/**
 * Posts the card and puts it on the board. It is on record before it is posted, so that a crash at any moment leaves either
 * nothing in the channel or something to find it by; and its time starts when Discord has confirmed it. Where Discord confirms nothing, the
 * record stays: the card may be there all the same, and is looked for later. Discord's refusal is certain.
 */
async function deliver(
  { board, records, clock, signal }: Pick<AskingParts, 'board' | 'records' | 'clock' | 'signal'>,
  { request, others, rules, draw, channel }: Delivery,
): Promise<WaitingCard> {
  const { call } = request;
  const { id: callId, actor } = call;
  const { userId, guildId, channelId } = actor;
  const { content, file, components } = draw(FRESH);
  const also = others.map((other) => ({ callId: other.call.id, ...wordsOf(other) }));
  const after = channel.lastMessageId ?? '0';
  await records.save(callId, { userId, guildId, channelId, content, after, ...wordsOf(request), also });
  const message = {
    content,
    components,
    files: file === undefined ? [] : [{ name: file.name, attachment: Buffer.from(file.json) }],
    allowedMentions: call.session?.mention === true ? { ...NO_PINGS, users: [userId] } : NO_PINGS,
  };
  const posted = sendOnce(channel, message, `confirm:${callId}:card`, { clock, signal });
  const { id: messageId } = await posted.catch(async (error: unknown) => {
    if (isRefusal(error)) await records.delete(callId);
    throw error;
  });
  const expiresAt = clock.now() + decideWithinMs(call, rules);
  await records.change(callId, { messageId, expiresAt });
  const sentence = sentenceOf({ request, others });
  const place = { userId, guildId, channelId, messageId };
  const state = FRESH;
  const card = { callId, ...place, sentence, draw, state, drawn: Promise.resolve(), expiresAt, request, others };
  board.add(card);
  return card;
}

function wordsOf({ call }: Request) {
  return { sentence: call.card.sentence, cancelled: inert(call.card.cancelled) };
}

function sentenceOf(card: Pick<WaitingCard, 'request' | 'others'>): string {
  return requestsOf(card)
    .map(({ call }) => call.card.sentence)
    .join('; ');
}

/**
 * Adds 👍, then 👎. Where Discord refuses although the permissions are there, the card gets buttons instead and says so. The card waits for a
 * decision in any case: the member can react by themselves. Never rejects.
 */
async function addReactions(
  { board, records, outbox, clock, signal, log }: AskingParts,
  card: WaitingCard,
  channel: SendableChannels,
): Promise<void> {
  try {
    for (const emoji of [APPROVE, REFUSE])
      await retryDiscord(clock, () => channel.messages.react(card.messageId, emoji), { signal });
  } catch (error) {
    log.warn('reactions could not be added to a card', { callId: card.callId, error });
    // What became of it may be waiting to be shown, and must not be replaced.
    if (!board.has(card)) return;
    await outbox.put(card.callId, offerButtons);
  }

  async function offerButtons(): Promise<void> {
    // Decided, timed out or deleted while they were being added: then nobody needs them any more.
    if (!board.has(card)) return;
    card.state = { ...card.state, reactionsRefused: true };
    const { content, components } = card.draw(card.state);
    await records.change(card.callId, { content });
    try {
      const shown = channel.messages.edit(card.messageId, { content, components, allowedMentions: NO_PINGS });
      card.drawn = shown.catch(() => undefined);
      await shown;
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      log.warn('a card could not be given buttons', { callId: card.callId, error });
    }
  }
}

/** Takes a card back as soon as its call is not wanted any more: the task was stopped, whoever asked has gone. */
function withdrawOnAbort(
  { expiry, log }: { readonly expiry: Expiry; readonly log: Logger },
  card: WaitingCard,
  settled: Promise<SettledOutcome>,
): void {
  const { signal } = card.request.call;
  const withdraw = () => {
    expiry.expire(card, 'withdrawn').catch((error: unknown) => {
      log.error('a card could not be withdrawn', { callId: card.callId, error });
    });
  };
  if (signal.aborted) {
    withdraw();
    return;
  }
  signal.addEventListener('abort', withdraw, { once: true });
  // A task outlives many cards: none of them may stay hooked to it.
  void settled.finally(() => signal.removeEventListener('abort', withdraw));
}
