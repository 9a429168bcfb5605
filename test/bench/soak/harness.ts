import { setTimeout as sleep } from 'node:timers/promises';
import {
  type LocalApplication,
  type LocalChannel,
  type LocalDiscord,
  type LocalMessage,
  type LocalUser,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import { callTool, type ModelScript, say, startOpenAiStandIn } from '@cinnabar/local-models';
import { createDice, type Dice, weighted } from '../../campaign/confirm/dice.js';

/** Five guilds with hundreds of members who write to each other and to the bot. */
interface SoakHarness extends AsyncDisposable {
  readonly discord: LocalDiscord;
  readonly application: LocalApplication;
  /** The bot's configuration of its model. */
  readonly env: Readonly<Record<string, string>>;
  /** Counts of the events. */
  readonly counts: Readonly<Record<string, number>>;
  /** Called once the bot is ready: assigns some channels to the persona. */
  furnish(): Promise<void>;
  /** Resolves when the given number of messages was sent and all questions are answered. */
  live(messages: number): Promise<void>;
}

const GUILDS = 5;
const CHANNELS_EACH = 10;
const PEOPLE = 600;
const SEED = 20_261;
/** The server waits for the bot after this number of messages, so that nothing accumulates in the sockets. */
const BATCH = 200;
/** Maximum number of unanswered questions. */
const MOST_OPEN = 6;
const PATIENCE_MS = 3_000;
/** Number of messages of a conversation that members still react to, edit and delete. */
const REMEMBERED = 200;

const WORDS =
  'the night market opens late and nobody knows why the lights over the river went out again but the noodles are still good tonight'.split(
    ' ',
  );

type Happening = (scene: { readonly person: LocalUser; readonly channel: LocalChannel }) => void;

export async function openSoakHarness(): Promise<SoakHarness> {
  const dice = createDice(SEED);
  const discord = await startLocalDiscord({ keepMessages: 1_200 });
  discord.requests.enabled = false;
  const model = await startOpenAiStandIn({ script: modelScript(dice), keepRequests: 0 });
  const owner = discord.createUser({ name: 'owner' });
  const application = discord.createApplication({ name: 'cinnabar', owner });
  const people = Array.from({ length: PEOPLE }, (_, at) => discord.createUser({ name: `person-${at}` }));
  const guilds = Array.from({ length: GUILDS }, (_, at) => {
    const guild = discord.createGuild({ name: `guild-${at}`, owner });
    guild.invite(application);
    // Each member is in two guilds.
    for (const [number, person] of people.entries())
      if ([at, (at + 1) % GUILDS].includes(number % GUILDS)) guild.join(person);
    const channels = Array.from({ length: CHANNELS_EACH }, (_, number) =>
      guild.createChannel({ name: `channel-${number}` }),
    );
    return { channels, people: people.filter((_, number) => [at, (at + 1) % GUILDS].includes(number % GUILDS)) };
  });

  const counts: Record<string, number> = {};
  const open = new Map<string, number>();
  const recent: LocalMessage[] = [];
  const cards: LocalMessage[] = [];
  discord.observe((event) => {
    if (event.type !== 'messageCreate' || event.message.author.id !== application.user.id) return;
    const { message } = event;
    if (message.replyTo !== null && message.replyTo !== undefined) open.delete(message.replyTo.id);
    if (message.components.length > 0 || message.content.includes('👍')) cards.push(message);
  });

  const pickOf = <T>(list: readonly T[]): T => {
    const picked = list[Math.floor(dice.next() * list.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  };
  const sentence = () => Array.from({ length: dice.between(3, 30) }, () => pickOf(WORDS)).join(' ');
  const ask = (person: LocalUser, channel: LocalChannel, what: string) => {
    open.set(person.say(channel, `${application.user} ${what}`).id, Date.now());
  };

  const happenings: readonly (readonly [number, string, Happening])[] = [
    [10_000, 'messages', ({ person, channel }) => void remember(recent, person.say(channel, sentence()))],
    [90, 'questions', ({ person, channel }) => ask(person, channel, `What do you think of ${sentence()}?`)],
    [10, 'reads by tool', ({ person, channel }) => ask(person, channel, 'please look up the roles')],
    [10, 'cards', ({ person, channel }) => ask(person, channel, `please add ${pickOf(WORDS)} to my party`)],
    [
      30,
      'commands',
      ({ person, channel }) => void person.say(channel, pickOf(['!help', '!ai status', '!tasks', '!cost', '!why'])),
    ],
    [15, 'slash commands', ({ person, channel }) => void person.slash(channel, pickOf(['ai-status', 'tasks', 'help']))],
    [3, 'tasks', ({ person, channel }) => void person.say(channel, `!task ${sentence()}`)],
    [10, 'direct messages', ({ person }) => void person.say(person.openDm(application), `${sentence()}?`)],
    [150, 'reactions', ({ person }) => attempt(() => person.react(pickOf(recent), pickOf(['🙃', '🎉', '❤️'])))],
    [
      100,
      'edits',
      () =>
        attempt(() => {
          const message = pickOf(recent);
          message.author.user?.edit(message, sentence());
        }),
    ],
    [
      60,
      'deletions',
      () =>
        attempt(() => {
          const message = pickOf(recent);
          message.author.user?.delete(message);
        }),
    ],
    [
      20,
      'decisions',
      () => {
        const card = cards.shift();
        if (card !== undefined) for (const person of people.slice(0, 40)) attempt(() => person.react(card, '👍'));
      },
    ],
    [30, 'typing', ({ person, channel }) => person.typing(channel)],
  ];
  const table = happenings.map(([weight, name, happen]) => [weight, { name, happen }] as const);

  const catchUp = async () => {
    await discord.settled(60_000);
    const until = Date.now() + PATIENCE_MS;
    while (open.size > MOST_OPEN && Date.now() < until) await sleep(5);
    for (const [id, at] of open) if (Date.now() - at > PATIENCE_MS) open.delete(id);
  };

  return {
    discord,
    application,
    env: { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'sk-soak', OPENAI_MODEL: 'stand-in' },
    counts,
    async furnish() {
      await discord.settled();
      for (const { channels } of guilds) {
        const [last] = channels.slice(-1);
        if (last !== undefined) owner.say(last, '!ai use persona --here');
      }
      await discord.settled();
    },
    async live(messages) {
      for (let said = 0; said < messages; ) {
        const { name, happen } = weighted(dice, table) ?? { name: 'nothing', happen: () => undefined };
        const guild = pickOf(guilds);
        attempt(() => happen({ person: pickOf(guild.people), channel: pickOf(guild.channels) }));
        counts[name] = (counts[name] ?? 0) + 1;
        if (name !== 'messages') continue;
        said += 1;
        if (said % BATCH === 0) await catchUp();
      }
      await catchUp();
      await sleep(PATIENCE_MS);
      await discord.settled(60_000);
    },
    async [Symbol.asyncDispose]() {
      await discord.close();
      await model[Symbol.asyncDispose]();
    },
  };
}

/** Actions that Discord refuses (on a deleted message, or with a missing slash command) do not count. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {}
}

function remember(recent: LocalMessage[], message: LocalMessage): void {
  recent.push(message);
  if (recent.length > REMEMBERED) recent.shift();
}

/** Answers in the form that each responder expects: a plan for the persona, the end of a task, a requested tool call, or text. */
function modelScript(dice: Dice): ModelScript {
  let answers = 0;
  return ({ system, text, tools, results }) => {
    answers += 1;
    if (tools.includes('task_complete')) return callTool('task_complete', { summary: `Done, number ${answers}.` });
    if (system.includes('SPEAK')) {
      const speak = { action: 'SPEAK', context: '', result: { message: `As I said, number ${answers}.` } };
      return say(JSON.stringify({ reasoning: 'It seems right.', actions: [speak], can_extend: false }));
    }
    if (results.length > 0) return say(`That is done, number ${answers}.`);
    const last = text.slice(-300);
    if (last.includes('party') && tools.includes('add_party_character')) {
      return callTool('add_party_character', { name: `Kari ${answers}`, role: 'fighter' });
    }
    if (last.includes('roles') && tools.includes('discord_list_roles')) return callTool('discord_list_roles');
    return say(`${'A thought about it. '.repeat(dice.between(1, 12))}(${answers})`);
  };
}
