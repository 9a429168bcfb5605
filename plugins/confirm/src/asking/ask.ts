import {
  type Clock,
  type ComponentHandle,
  type Logger,
  type Outcome,
  permissionName,
  type SettledOutcome,
  type ToolCall,
} from '@cinnabar/sdk';
import type { Client, PermissionsString } from 'discord.js';
import { missingPermission } from '../discord/errors.js';
import { type Place, placeOf } from '../discord/place.js';
import type { Recovery } from '../lifecycle/recover.js';
import type { Allowance } from '../session/allowance.js';
import type { Rules } from '../settings.js';
import type { Board } from '../waiting/board.js';
import type { Request } from '../waiting/card.js';
import { type Expiry, REASONS } from '../waiting/expiry.js';
import type { Outbox } from '../waiting/outbox.js';
import type { Records } from '../waiting/records.js';
import { addReactions } from './add-reactions.js';
import { type Controls, controlsFor, type DecideHandle, REACTION_PERMISSIONS } from './controls.js';
import { deliver } from './deliver.js';
import type { Deliveries } from './deliveries.js';
import { dealToCards, FRESH, faceOf } from './face.js';
import { withdrawOnAbort } from './withdraw.js';

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
