import {
  findSendable,
  isRefusal,
  type Outcome,
  permissionName,
  retryDiscord,
  type SettledOutcome,
  sendOnce,
  type ToolCall,
  t,
  unlessUnreachable,
} from '@cinnabar/sdk';
import { type Client, type PermissionsString, RESTJSONErrorCodes, type SendableChannels } from 'discord.js';
import type { ConfirmContext } from './context.js';
import {
  APPROVE,
  type CardFace,
  type CardState,
  type Controls,
  controlsFor,
  dealToCards,
  FRESH,
  faceOf,
  REACTION_PERMISSIONS,
  REFUSE,
} from './controls.js';
import { withdrawOnAbort } from './decisions.js';
import { NO_PINGS, REASONS } from './outcomes.js';
import { type HeldCall, type PendingCard, requestOf } from './pending-cards.js';
import { resolveCard } from './recovery.js';
import { inert } from './render.js';

type HeldCalls = readonly [HeldCall, ...HeldCall[]];

const NOTE =
  'Not run yet: waiting for the member to confirm with 👍, or cancel with 👎, on the card that was just posted. Do not claim that it ran.';
const LONGEST_WAIT_MS = 7 * 24 * 3_600_000;

/**
 * Posts the cards of a member's held calls in one channel, as few as can show all of them. When a card cannot be posted completely, its calls are not executed.
 * Resolves with an outcome for each call.
 */
export async function postCards(context: ConfirmContext, held: HeldCalls): Promise<ReadonlyMap<string, Outcome>> {
  const [{ call, rules }] = held;
  const outcomes = new Map<string, Outcome>();
  const wanted = held.filter((heldCall) => !heldCall.call.signal.aborted);
  for (const { call } of held) outcomes.set(call.id, expired(call, REASONS.withdrawn));
  const place = await findPlaceFor(context.client, call.actor.channelId);
  if ('blockedBy' in place) {
    for (const { call } of wanted) outcomes.set(call.id, refused(call, 'ask', place.blockedBy));
    return outcomes;
  }
  const missing = place.missing(...REACTION_PERMISSIONS);
  for (const dealt of dealToCards(wanted, rules.style, controlsOf(wanted, missing)?.notes ?? [])) {
    for (const outcome of await postCard(context, dealt, place, missing)) outcomes.set(outcome.callId, outcome);
  }
  return outcomes;
}

async function postCard(
  context: ConfirmContext,
  held: HeldCalls,
  place: Exclude<Place, { blockedBy: unknown }>,
  missing: readonly PermissionsString[],
): Promise<readonly Outcome[]> {
  const [{ call, rules }] = held;
  const controls = controlsOf(held, missing);
  const draw = faceOf(held, rules.style, controls, context.components);
  if (draw(FRESH).file !== undefined && place.missing('AttachFiles').length > 0) {
    return [refused(call, 'show', 'AttachFiles')];
  }
  const [first, ...others] = held;
  const waiting = [requestOf(first), ...others.map(requestOf)] as const;
  const [{ request, settled }] = waiting;
  const requests = [request, ...waiting.slice(1).map((one) => one.request)] as const;
  try {
    const delivery = deliver(context, place.channel, first, requests, draw);
    const card = await context.cards.deliver(call.actor.userId, delivery);
    withdrawOnAbort(context, card, settled);
    if (controls.reactions) await addReactions(context, card, place.channel);
  } catch (error) {
    const lacking = missingPermission(error);
    if (lacking !== undefined) return held.map((heldCall) => refused(heldCall.call, 'ask', lacking));
    context.log.error('a confirmation card could not be posted', { callId: call.id, error });
    // The card may be in the channel nevertheless.
    context.outbox.later(call.id, () => resolveCard(context, call.id));
    return held.map((heldCall) => expired(heldCall.call, REASONS.undelivered));
  }
  return waiting.map(({ request, settled }) => ({ status: 'deferred', callId: request.call.id, note: NOTE, settled }));
}

/**
 * Posts the card and adds it to the pending ones. It is recorded before, so that after a crash there is either nothing in the channel or a record by which the
 * card is found. Its time starts when Discord has confirmed it. Without a confirmation the record stays, because the card may exist, and is searched for later.
 * A refusal by Discord is final.
 */
async function deliver(
  { cards, records, clock, signal }: ConfirmContext,
  channel: SendableChannels,
  { call, rules }: HeldCall,
  requests: PendingCard['requests'],
  draw: (state: CardState) => CardFace,
): Promise<PendingCard> {
  const { id: callId, session } = call;
  const { userId, guildId, channelId } = call.actor;
  const { content, file, components } = draw(FRESH);
  const also = requests.slice(1).map((request) => ({ callId: request.call.id, ...wordsOf(request.call) }));
  const after = channel.lastMessageId ?? '0';
  await records.save(callId, { userId, guildId, channelId, content, after, ...wordsOf(call), also });
  const message = {
    content,
    components,
    files: file === undefined ? [] : [{ name: file.name, attachment: Buffer.from(file.json) }],
    allowedMentions: session?.mention === true ? { ...NO_PINGS, users: [userId] } : NO_PINGS,
  };
  const posted = sendOnce(channel, message, `confirm:${callId}:card`, { clock, signal });
  const { id: messageId } = await posted.catch(async (error: unknown) => {
    if (isRefusal(error)) await records.delete(callId);
    throw error;
  });
  // A task says how long it can wait for its member; in a conversation the guild's setting applies.
  const waitMs = Math.min(session?.decideWithinMs ?? rules.timeLimit * 1_000, LONGEST_WAIT_MS);
  const expiresAt = clock.now() + waitMs;
  await records.change(callId, { messageId, expiresAt });
  const sentence = requests.map((request) => request.call.card.sentence).join('; ');
  const place = { userId, guildId, channelId, messageId };
  const card = { callId, ...place, sentence, draw, state: FRESH, drawn: Promise.resolve(), expiresAt, requests };
  cards.add(card);
  return card;
}

/**
 * Adds 👍, then 👎. When Discord refuses although the permissions exist, the card gets buttons instead, with a note. The card waits for a decision in any case,
 * since the member can add reactions themselves. Never rejects.
 */
async function addReactions(
  { cards, records, outbox, clock, signal, log }: ConfirmContext,
  card: PendingCard,
  channel: SendableChannels,
): Promise<void> {
  const { callId, messageId } = card;
  try {
    for (const emoji of [APPROVE, REFUSE])
      await retryDiscord(clock, () => channel.messages.react(messageId, emoji), { signal });
  } catch (error) {
    log.warn('reactions could not be added to a card', { callId, error });
    // Only for a pending card; otherwise this could replace the update with its outcome.
    if (cards.has(card)) await outbox.put(callId, offerButtons);
  }

  async function offerButtons(): Promise<void> {
    // The card was decided, timed out or was deleted meanwhile, and needs no reactions.
    if (!cards.has(card)) return;
    card.state = { ...card.state, reactionsRefused: true };
    const { content, components } = card.draw(card.state);
    await records.change(callId, { content });
    const shown = channel.messages.edit(messageId, { content, components, allowedMentions: NO_PINGS });
    card.drawn = shown.catch(() => undefined);
    await unlessUnreachable(shown);
  }
}

/** The channel of a card, or the permission that is missing for it. */
type Place =
  | { readonly channel: SendableChannels; missing(...wanted: readonly PermissionsString[]): PermissionsString[] }
  | { readonly blockedBy: PermissionsString };

/** The channel of a card. In a direct message no permission is ever missing. */
async function findPlaceFor(client: Client, channelId: string): Promise<Place> {
  const channel = await findSendable(client, channelId);
  if (channel === undefined) return { blockedBy: 'ViewChannel' };
  const own = channel.isDMBased() || client.user === null ? undefined : channel.permissionsFor(client.user);
  const missing = (...wanted: readonly PermissionsString[]) =>
    own === undefined ? [] : wanted.filter((permission) => own?.has(permission) !== true);
  const [blockedBy] = missing('ViewChannel', channel.isThread() ? 'SendMessagesInThreads' : 'SendMessages');
  return blockedBy === undefined ? { channel, missing } : { blockedBy };
}

/** The missing permission according to Discord's refusal, since the cache may be out of date. */
function missingPermission(error: unknown): PermissionsString | undefined {
  const code = isRefusal(error) ? error.code : undefined;
  const { MissingAccess, MissingPermissions, UnknownChannel } = RESTJSONErrorCodes;
  if (code === MissingAccess || code === UnknownChannel) return 'ViewChannel';
  return code === MissingPermissions ? 'SendMessages' : undefined;
}

function controlsOf(held: HeldCalls, missing: readonly PermissionsString[]): Controls;
function controlsOf(held: readonly HeldCall[], missing: readonly PermissionsString[]): Controls | undefined;
function controlsOf(held: readonly HeldCall[], missing: readonly PermissionsString[]): Controls | undefined {
  const [own, ...others] = held.map(({ call, rules, allowance }) =>
    controlsFor(rules.controls, missing, call, allowance),
  );
  if (own === undefined) return undefined;
  return { ...own, notes: [...new Set([own, ...others].flatMap(({ notes }) => notes))] };
}

function wordsOf({ card }: ToolCall): { readonly sentence: string; readonly cancelled: string } {
  return { sentence: card.sentence, cancelled: inert(card.cancelled) };
}

function expired({ id }: ToolCall, reason: string): SettledOutcome {
  return { status: 'expired', callId: id, reason };
}

function refused({ id }: ToolCall, what: 'ask' | 'show', missing: PermissionsString): SettledOutcome {
  const permission = permissionName(missing);
  const reason =
    what === 'ask'
      ? t(
          'I cannot ask for a confirmation in that channel: I am missing the permission {permission}. Nothing was run.',
          { permission },
        )
      : t(
          'I cannot show everything that this would do in that channel: I am missing the permission {permission}. Nothing was run.',
          { permission },
        );
  return { status: 'denied', callId: id, reason };
}
