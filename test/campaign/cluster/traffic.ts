import type { LocalChannel, LocalDiscord, LocalInteraction, LocalUser } from '@cinnabar/local-discord';
import type { Chance } from '../settings/chance.js';

const KINDS = ['tally', 'tally', 'repeat', 'mark', 'slash', 'set', 'word'] as const;
export type Kind = (typeof KINDS)[number];

/** Something that a person said or asked for, and what came of it. */
export interface Asked {
  readonly kind: Kind;
  readonly id: string;
  readonly channel: LocalChannel;
  readonly at: number;
  /** The word that the server is to have from now on. */
  readonly word: string | undefined;
  /** What a slash command was answered with is its own. */
  readonly interaction: LocalInteraction | undefined;
  /** What the bot has answered, and when. */
  readonly answers: readonly Answer[];
}

export interface Answer {
  readonly text: string;
  readonly at: number;
}

/** People in all servers, who say things at random moments, and read what is answered; nothing before `resume`. */
export interface Traffic extends Disposable {
  readonly asked: readonly Asked[];
  /** No more of what was said until now is looked at. */
  forget(): void;
  pause(): void;
  resume(): void;
  /** So many say something at once. */
  burst(people: number): void;
}

const EVERY_MS = 60;
/** Words are changed and asked for in some servers, so that both happen soon after one another. */
const SERVERS_WITH_WORDS = 24;

export function startTraffic(options: {
  readonly discord: LocalDiscord;
  readonly people: LocalUser;
  readonly channels: readonly [LocalChannel, ...LocalChannel[]];
  readonly botId: string;
  readonly chance: Chance;
}): Traffic {
  const { discord, people, channels, botId, chance } = options;
  let asked = new Map<string, Asked>();
  const answered = new Map<string, Answer[]>();
  let isPaused = true;
  let words = 0;
  const stop = discord.observe((event) => {
    if (event.type !== 'messageCreate' || event.message.author.id !== botId) return;
    const { reference, content } = event.message;
    if (reference !== undefined) answered.get(reference.messageId)?.push({ text: content, at: Date.now() });
  });
  const note = (one: Omit<Asked, 'at' | 'answers'>) => {
    const said: Answer[] = [];
    answered.set(one.id, said);
    const answers = () => [
      ...said,
      // One without words is the deferral of an answer that came apart, for the person alone.
      ...(one.interaction?.messages ?? [])
        .filter(({ content }) => content !== '')
        .map(({ content, createdAt }) => ({ text: content, at: createdAt })),
    ];
    asked.set(one.id, {
      ...one,
      at: Date.now(),
      get answers() {
        return answers();
      },
    });
  };
  const say = (kind: Exclude<Kind, 'slash'>, channel: LocalChannel, text: string, word?: string) =>
    note({ kind, id: people.say(channel, text).id, channel, word, interaction: undefined });
  const slash = (channel: LocalChannel) => {
    try {
      const interaction = people.slash(channel, 'tally');
      note({ kind: 'slash', id: interaction.id, channel, word: undefined, interaction });
    } catch {
      // Servers get the bot's slash commands one after another.
    }
  };
  const change = (channel: LocalChannel) => {
    // Somebody who changes it waits for the answer.
    const open = [...asked.values()].some(
      (one) => one.kind === 'set' && one.answers.length === 0 && one.channel === channel,
    );
    if (open) return;
    words += 1;
    say('set', channel, `!set tally word w${words}`, `w${words}`);
  };
  const someWhere = (among: number) => channels[chance.below(Math.min(among, channels.length))] ?? channels[0];
  const step = () => {
    const kind = chance.pick(KINDS);
    if (kind === 'set') change(someWhere(SERVERS_WITH_WORDS));
    else if (kind === 'word') say(kind, someWhere(SERVERS_WITH_WORDS), '!word');
    else if (kind === 'slash') slash(chance.pick(channels));
    else say(kind, chance.pick(channels), kind === 'mark' ? `mark ${chance.below(1_000_000)}` : `!${kind}`);
  };
  const timer = setInterval(() => {
    if (!isPaused) step();
  }, EVERY_MS);
  return {
    get asked() {
      return [...asked.values()];
    },
    forget() {
      asked = new Map();
      answered.clear();
    },
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
    },
    burst(number) {
      for (let one = 0; one < number; one += 1) step();
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      stop();
    },
  };
}
