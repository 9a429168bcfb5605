import type { LocalMessage, LocalUser } from '@cinnabar/local-discord';
import type { Dice } from '../confirm/dice.js';
import { type Harness, type Place, PREFIX } from './harness.js';
import { type Asked, type BotName, codesIn, type Decision, type Kind } from './requests.js';
import type { Sighting } from './sightings.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** After an event, the clock moves in steps of a quarter of the time since the event. */
const STEPS_PER_FOLD = 4;
const LONGEST_STEP_MS = 5 * MINUTE;

/** An event that excuses a missing answer, but not silence. */
export interface Disturbance {
  readonly why: 'outage' | 'crash' | 'off';
  readonly bot: BotName;
  readonly from: number;
  /** Its end, extended while it lasts. */
  to: number;
  /** The affected kinds of requests; default: all of that bot. */
  readonly kinds?: ReadonlySet<Kind>;
  /** For a disabled plugin: the effects that are forbidden … */
  readonly forbids?: Switch['forbids'];
  /** … once the admin has read that it is disabled. */
  knownSince?: number;
}

export interface Request {
  readonly kind: Kind;
  readonly where: Place;
  readonly bot?: BotName;
  readonly who?: LocalUser;
  /** The complete message, for commands. */
  readonly line?: string;
  readonly replyTo?: () => LocalMessage | undefined;
  readonly decision?: Decision;
  readonly decideAfterMs?: number;
  readonly agentTakesMs?: number;
}

/** Disables a part of Cinnabar for a while. */
export interface Switch {
  readonly off: string;
  readonly on: string;
  readonly kinds: readonly [Kind, ...Kind[]];
  /** With only a tool disabled, the responder still answers. */
  readonly forbids: 'answers' | 'notices';
  readonly forMs: number;
}

interface Moment {
  readonly at: number;
  readonly act: () => void | Promise<void>;
}

/** The script of a day: scheduled events, and members' reactions to what they see. */
export class Story {
  readonly disturbances: Disturbance[] = [];
  /** A minute after the bots are online. */
  readonly begins: number;
  readonly midnight: number;
  readonly #town: Harness;
  readonly #dice: Dice;
  #moments: Moment[] = [];
  #latest = 0;

  constructor(harness: Harness, dice: Dice) {
    this.#town = harness;
    this.#dice = dice;
    this.begins = harness.clock.now() + MINUTE;
    this.midnight = new Date(harness.clock.now()).setUTCHours(0, 0, 0, 0);
    harness.sightings.onSighting((sighting) => this.#react(sighting));
  }

  /** A time of the day; from `24:00` on, of the next day. */
  time(clock: string): number {
    const [hours = 0, minutes = 0] = clock.split(':').map(Number);
    return this.midnight + (hours * 60 + minutes) * MINUTE;
  }

  /** A random time between two others. */
  between(from: string, to: string): number {
    return this.#dice.between(this.time(from), this.time(to));
  }

  at(at: number, act: Moment['act']): void {
    this.#moments.push({ at, act });
  }

  /** A member's request; member and decision are random unless the scene specifies them. */
  ask(at: number, request: Request): void {
    this.at(at, () => void this.#ask(request));
  }

  /** A message that is not for a bot. */
  chat(at: number, where: Place, text: string): void {
    this.at(at, () => {
      this.#dice.pick(this.#town.others).say(this.#town.places[where], text);
    });
  }

  /** A command of the admin to Cinnabar. */
  admin(at: number, line: string, where: Place = 'office'): void {
    this.ask(at, { kind: 'command', where, who: this.#town.admin, line });
  }

  /** An outage of a model's service. */
  outage(bot: BotName, at: number, forMs: number): void {
    this.at(at, () => {
      const disturbance = this.#disturb({ why: 'outage', bot, from: at, to: at + forMs });
      this.#town.bots[bot].isOut = true;
      this.at(disturbance.to, () => {
        this.#town.bots[bot].isOut = false;
      });
    });
  }

  /** Kills the bot's process as soon as `when` holds, and starts it again later. */
  crash(bot: BotName, at: number, downMs: number, when: () => boolean = () => true): void {
    const seat = this.#town.bots[bot];
    const attempt = async (): Promise<void> => {
      const now = this.#town.clock.now();
      if (!when() || !seat.isUp()) return this.at(now + SECOND, attempt);
      const disturbance = this.#disturb({ why: 'crash', bot, from: now, to: now + downMs });
      await seat.kill();
      this.at(disturbance.to, () => seat.start());
    };
    this.at(at, attempt);
  }

  /** The admin disables a plugin or tool, and enables it again. */
  switch(at: number, { off, on, kinds, forbids, forMs }: Switch): void {
    this.at(at, () => {
      const said = this.#ask({ kind: 'command', where: 'office', who: this.#town.admin, line: off });
      if (said === undefined) return;
      const disturbance = this.#disturb({
        why: 'off',
        bot: 'Cinnabar',
        from: at,
        to: at + forMs,
        kinds: new Set(kinds),
        forbids,
      });
      this.#town.sightings.onSighting(({ at: seenAt, message }) => {
        if (message.replyTo === said.message) disturbance.knownSince ??= seenAt;
      });
      this.admin(disturbance.to, on);
    });
  }

  /** Plays all events up to a time. */
  async play(until: number): Promise<void> {
    const { clock } = this.#town;
    while (clock.now() < until) {
      const next = Math.min(until, ...this.#moments.map(({ at }) => at));
      const sinceLatest = clock.now() - this.#latest;
      const step = Math.min(LONGEST_STEP_MS, Math.max(SECOND, sinceLatest / STEPS_PER_FOLD), next - clock.now());
      await this.#town.advance(Math.max(0, Math.round(step)));
      const due = this.#moments.filter(({ at }) => at <= clock.now()).toSorted((a, b) => a.at - b.at);
      this.#moments = this.#moments.filter((moment) => !due.includes(moment));
      for (const { act } of due) await act();
      if (due.length > 0) await this.#town.advance(0);
    }
  }

  #disturb(disturbance: Disturbance): Disturbance {
    this.disturbances.push(disturbance);
    this.#latest = disturbance.from;
    return disturbance;
  }

  /** `undefined` while the bot is offline, which members see: they ask when it is back. */
  #ask(request: Request): Asked | undefined {
    const { kind, bot = 'Cinnabar', who = this.#dice.pick(this.#town.speakers) } = request;
    const { requests, clock, places, bots } = this.#town;
    if (!bots[bot].isUp()) {
      this.at(clock.now() + MINUTE, () => void this.#ask({ ...request, who }));
      return undefined;
    }
    this.#latest = clock.now();
    const code = requests.nextCode();
    const replyTo = request.replyTo?.();
    const where = replyTo?.channel ?? places[request.where];
    // The request is recorded before its message is sent.
    const at = clock.now();
    const message = who.say(
      where,
      request.line ?? this.#words(kind, bot, code),
      replyTo === undefined ? {} : { replyTo },
    );
    const asked: Asked = {
      code,
      kind,
      bot,
      who,
      where,
      message,
      at,
      decision: request.decision ?? this.#dice.pick(['👍', '👍', '👍', '👎', 'nothing'] as const),
      decideAfterMs: request.decideAfterMs ?? this.#dice.between(2, 40) * SECOND,
      agentTakesMs: request.agentTakesMs ?? this.#dice.between(0, 25) * SECOND,
    };
    requests.add(asked);
    return asked;
  }

  #words(kind: Kind, bot: BotName, code: string): string {
    const { user } = this.#town.bots[bot];
    const prefix = PREFIX[bot];
    switch (kind) {
      case 'command':
        throw new Error('a command has its own words');
      case 'notice':
        return `${this.#dice.pick([`${user}`, `${prefix}ai`])} put ${code} on the board, please`;
      case 'task':
      case 'asking task':
      case 'night task':
        return `${prefix}task Take care of ${code}`;
      case 'question':
      case 'persona':
      case 'agent':
        return `${this.#dice.pick([`${user}`, `${prefix}ai`])} what about ${code}?`;
    }
  }

  /** Members' reactions to messages: they press 👍 or 👎 on their cards, and answer questions of their tasks. */
  #react({ at, message, text, isBot, what }: Sighting): void {
    if (what === 'says' || what === 'edits') this.#latest = at;
    if (!isBot || what !== 'says') return;
    const asked = codesIn(text)
      .map((code) => this.#town.requests.get(code))
      .find((one) => one !== undefined);
    if (asked === undefined) return;
    const isCard = text.includes('Confirmation Required');
    const isQuestion = text.includes(`Which colour for ${asked.code}?`);
    if (isCard && asked.decision !== 'nothing') this.at(at + asked.decideAfterMs, () => this.#decide(asked, message));
    if (isQuestion)
      this.at(at + asked.decideAfterMs, () => {
        asked.who.say(message.channel, 'Blue, as always.');
      });
  }

  #decide(asked: Asked, card: LocalMessage): void {
    if (card.deleted || asked.decision === 'nothing' || asked.decidedAt !== undefined) return;
    asked.decidedAt = this.#town.clock.now();
    asked.who.react(card, asked.decision);
  }
}
