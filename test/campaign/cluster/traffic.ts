import type { LocalChannel, LocalDiscord, LocalInteraction, LocalUser } from '@cinnabar/local-discord';
import type { Chance } from '../settings/chance.js';

const KINDS = ['tally', 'tally', 'repeat', 'mark', 'slash', 'set', 'word'] as const;
export type Kind = (typeof KINDS)[number];

/** A message or command of a person, with the answers. */
export interface Asked {
  readonly kind: Kind;
  readonly id: string;
  readonly channel: LocalChannel;
  readonly at: number;
  /** The new word of the server, for a change. */
  readonly word: string | undefined;
  /** The interaction of a slash command, which has its answers. */
  readonly interaction: LocalInteraction | undefined;
  /** The bot's answers with their times. */
  readonly answers: readonly Answer[];
}

export interface Answer {
  readonly text: string;
  readonly at: number;
}

/** People in all servers who write at random moments, and record the answers. Starts with `resume`. */
export interface Traffic extends Disposable {
  readonly asked: readonly Asked[];
  /** Drops all requests so far. */
  forget(): void;
  pause(): void;
  resume(): void;
  /** Makes that number of people write at once. */
  burst(people: number): void;
}

const EVERY_MS = 60;
/** Number of servers in which words are changed and read, few enough that both often happen in quick succession. */
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
      // A message without text is a deferral whose answer is a separate ephemeral message.
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
      // The server may not have received the bot's slash commands yet.
    }
  };
  const change = (channel: LocalChannel) => {
    // A change waits for the answer to the previous one.
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
