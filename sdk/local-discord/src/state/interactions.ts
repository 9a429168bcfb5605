import type { APIApplicationCommandOptionChoice, APIModalInteractionResponseCallbackData } from 'discord-api-types/v10';
import { createWaiters, PATIENCE_MS } from '../waiters.js';
import type { LocalApplication } from './applications.js';
import type { LocalChannel } from './channels.js';
import type { Clock } from './events.js';
import type { LocalMessage } from './messages.js';
import type { LocalUser } from './users.js';

/** The action of the user. */
export type InteractionSource =
  | { readonly kind: 'command'; readonly name: string; readonly menu: boolean }
  | { readonly kind: 'autocomplete'; readonly name: string }
  | { readonly kind: 'component'; readonly message: LocalMessage; readonly customId: string }
  | { readonly kind: 'modal'; readonly trigger: LocalInteraction; readonly customId: string };

/** The application's progress: none yet, "thinking…", or a response. */
type InteractionState = 'waiting' | 'deferred' | 'answered';

const ACKNOWLEDGE_WITHIN_MS = 3_000;

const TOKEN_LIVES_MS = 15 * 60_000;

/** A slash command, button press, selection, modal or autocompletion, with its response. It is live. */
export class LocalInteraction {
  readonly id: string;
  readonly token: string;
  readonly application: LocalApplication;
  readonly user: LocalUser;
  readonly channel: LocalChannel;
  readonly createdAt: number;
  readonly source: InteractionSource;
  state: InteractionState = 'waiting';
  /** Whether the deferral asked for an ephemeral answer. */
  deferredEphemeral = false;
  /** The response: a separate message, or for components possibly the message with the component. */
  response: LocalMessage | undefined;
  /** The response and every follow-up, oldest first, including ephemeral ones. */
  readonly messages: LocalMessage[] = [];
  /** The modal of the response; pass the interaction to `user.submit()`. */
  modal: APIModalInteractionResponseCallbackData | undefined;
  /** The suggestions of an autocompletion. */
  choices: APIApplicationCommandOptionChoice[] | undefined;
  readonly #clock: Clock;
  readonly #waiters = createWaiters();

  constructor(
    id: string,
    token: string,
    clock: Clock,
    application: LocalApplication,
    user: LocalUser,
    channel: LocalChannel,
    source: InteractionSource,
  ) {
    this.id = id;
    this.token = token;
    this.#clock = clock;
    this.createdAt = clock.now();
    this.application = application;
    this.user = user;
    this.channel = channel;
    this.source = source;
  }

  /** Whether the application has responded, including a deferral. */
  get acknowledged(): boolean {
    return this.state !== 'waiting';
  }

  /** Whether it is still "thinking…". */
  get deferred(): boolean {
    return this.state === 'deferred';
  }

  /** Whether it has expired: 3 seconds without an acknowledgement ("The application did not respond"). */
  get expired(): boolean {
    return !this.acknowledged && this.#clock.now() - this.createdAt > ACKNOWLEDGE_WITHIN_MS;
  }

  /** Whether the token still admits edits and follow-ups: 15 minutes. */
  get tokenValid(): boolean {
    return this.#clock.now() - this.createdAt <= TOKEN_LIVES_MS;
  }

  /** Changes the state; called by the server. */
  advance(state: InteractionState): void {
    this.state = state;
    if (state === 'answered') this.#waiters.release();
  }

  /**
   * Resolves with this interaction when it has an answer (a deferral is none).
   * @param timeoutMs time limit in real time; default: 10,000
   */
  async answered(timeoutMs = PATIENCE_MS): Promise<this> {
    if (this.state !== 'answered') {
      await this.#waiters.wait(
        timeoutMs,
        () => `No answer to the ${describeSource(this.source)} within ${timeoutMs} ms.`,
      );
    }
    return this;
  }
}

function describeSource(source: InteractionSource): string {
  if (source.kind === 'command' || source.kind === 'autocomplete') return `${source.kind} /${source.name}`;
  return `${source.kind} "${source.customId}"`;
}
