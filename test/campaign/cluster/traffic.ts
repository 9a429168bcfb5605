import type { LocalChannel, LocalDiscord, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import type { Chance } from '../settings/chance.js';

export type Kind = 'tally' | 'repeat' | 'mark';

/** Something that a person said, and what came of it. */
export interface Asked {
  readonly kind: Kind;
  readonly message: LocalMessage;
  readonly at: number;
  /** What the bot has answered, and when. */
  readonly answers: { readonly text: string; readonly at: number }[];
}

/** People in all servers, who say things at random moments, and read what is answered; nothing before `resume`. */
export interface Traffic extends Disposable {
  readonly asked: readonly Asked[];
  /** No more of what was said until now is looked at. */
  forget(): void;
  pause(): void;
  resume(): void;
}

const EVERY_MS = 60;

export function startTraffic(options: {
  readonly discord: LocalDiscord;
  readonly people: LocalUser;
  readonly channels: readonly [LocalChannel, ...LocalChannel[]];
  readonly botId: string;
  readonly chance: Chance;
}): Traffic {
  const { discord, people, channels, botId, chance } = options;
  let asked = new Map<string, Asked>();
  let isPaused = true;
  const stop = discord.observe((event) => {
    if (event.type !== 'messageCreate' || event.message.author.id !== botId) return;
    const { reference, content } = event.message;
    if (reference !== undefined) asked.get(reference.messageId)?.answers.push({ text: content, at: Date.now() });
  });
  const say = () => {
    const channel = chance.pick(channels);
    const kind = chance.pick(['tally', 'tally', 'repeat', 'mark']);
    const message = people.say(channel, kind === 'mark' ? `mark ${chance.below(1_000_000)}` : `!${kind}`);
    asked.set(message.id, { kind, message, at: Date.now(), answers: [] });
  };
  const timer = setInterval(() => {
    if (!isPaused) say();
  }, EVERY_MS);
  return {
    get asked() {
      return [...asked.values()];
    },
    forget() {
      asked = new Map();
    },
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      stop();
    },
  };
}
