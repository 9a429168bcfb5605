import {
  type Clock,
  type Logger,
  type Outcome,
  permissionName,
  type SettledOutcome,
  type ToolCall,
} from '@cinnabar/sdk';
import type { Client, PermissionsString } from 'discord.js';
import { drawCard } from '../card/draw.js';
import { missingPermission } from '../discord/errors.js';
import { placeOf } from '../discord/place.js';
import type { Recovery } from '../lifecycle/recover.js';
import type { Allowance } from '../session/allowance.js';
import type { Rules } from '../settings.js';
import type { Board } from '../waiting/board.js';
import type { Request } from '../waiting/card.js';
import { type Expiry, REASONS } from '../waiting/expiry.js';
import type { Outbox } from '../waiting/outbox.js';
import type { Records } from '../waiting/records.js';
import { addReactions } from './add-reactions.js';
import { controlsFor, type DecideHandle, REACTION_PERMISSIONS } from './controls.js';
import { type Delivery, deliver } from './deliver.js';
import type { Deliveries } from './deliveries.js';
import { withdrawOnAbort } from './withdraw.js';

export interface AskingParts {
  readonly board: Board;
  readonly records: Records;
  readonly deliveries: Deliveries;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly buttons: DecideHandle;
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

const NOTE =
  'Not run yet: waiting for the member to confirm with 👍, or cancel with 👎, on the card that was just posted. Do not claim that it ran.';
const ASK = 'ask for a confirmation';

/** Posts the card of a held call. Whatever keeps it from being posted or shown in full keeps the call from running. */
export async function ask(parts: AskingParts, question: Question): Promise<Outcome> {
  const { call, rules, allowance } = question;
  if (call.signal.aborted) return { status: 'expired', callId: call.id, reason: REASONS.withdrawn };
  const place = await placeOf(parts.client, call.actor);
  if ('blockedBy' in place) return refused(call, ASK, place.blockedBy);
  const controls = controlsFor(rules.controls, place.missing(...REACTION_PERMISSIONS), call, allowance);
  const drawing = drawCard(rules.style, call.card, call.card.arguments, controls.notes);
  if (drawing.file !== undefined && place.missing('AttachFiles').length > 0) {
    return refused(call, 'show everything that this would do', 'AttachFiles');
  }
  const { request, settled } = requestOf(question);
  const delivery: Delivery = { call, request, rules, drawing, controls, channel: place.channel };
  try {
    const card = await parts.deliveries.track(call.actor.userId, deliver(parts, delivery));
    withdrawOnAbort(parts, card, settled);
    if (controls.reactions) await addReactions(parts, card, delivery);
  } catch (error) {
    const missing = missingPermission(error);
    if (missing !== undefined) return refused(call, ASK, missing);
    parts.log.error('a confirmation card could not be posted', { callId: call.id, error });
    // It may be in the channel all the same.
    parts.outbox.later(call.id, () => parts.recovery.resolve(call.id));
    return { status: 'expired', callId: call.id, reason: REASONS.undelivered };
  }
  return { status: 'deferred', callId: call.id, note: NOTE, settled };
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
