import { setImmediate } from 'node:timers/promises';
import { type LocalChannel, LocalDiscordError, type LocalMessage, type LocalUser } from '@cinnabar/local-discord';
import { type Actor, Tools } from '@cinnabar/sdk';
import { type Dice, weighted } from '../confirm/dice.js';
import { among, type Changes, TOPICS } from './changes.js';
import type { Chronicle } from './chronicle.js';
import type { TrustHarness } from './harness.js';
import type { Watch } from './watch.js';

/** Longer than the bot's cache of memberships: after this time all reads have to be right. */
const MEMORY_MS = 5_001;
/** In real time; a question reaches the model sooner. */
const ASKED_WITHIN_MS = 250;
const READING = [
  'discord_search_messages',
  'discord_read_messages',
  'discord_read_message',
  'discord_list_pins',
  'discord_list_threads',
  'discord_list_servers',
  'discord_get_server_info',
  'discord_list_roles',
  'discord_get_member',
  'discord_get_reaction_users',
  'discord_get_forum_channels',
] as const;
const COMMANDS = [
  'why',
  'cost',
  'cost channel',
  'tasks',
  'persona show',
  'persona memories',
  'persona mood',
  'persona goals',
  'persona trace',
  'persona export',
  'mydata export',
  'ai status',
  'confirm pending',
  'help',
  'tool list',
] as const;

/** Commands that everyone has as slash commands, with ephemeral answers. */
const SLASHED: ReadonlySet<string> = new Set([
  'why',
  'cost',
  'tasks',
  'persona show',
  'persona memories',
  'mydata export',
]);

interface TurnDependencies {
  readonly harness: TrustHarness;
  readonly dice: Dice;
  readonly changes: Changes;
  readonly watch: Watch;
  readonly chronicle: Chronicle;
  readonly count: (what: string) => void;
}

/** All ways in which a member makes the bot read something, and their decisions on the cards that follow. */
export function createTurns({ harness, dice, changes, watch, chronicle, count }: TurnDependencies) {
  const { host, oracle, people, guilds, mind, llm } = harness;

  /** A tool with arguments, for places that the requester may or may not see. */
  const wish = () => {
    const name = dice.pick(READING);
    const guildId = dice.pick(guilds).id;
    const message = among(dice, changes.said);
    const channelId = (dice.chance(0.6) ? message?.channel.id : undefined) ?? changes.somewhere()?.id ?? '1';
    const all = {
      guildId,
      channelId,
      messageId: message?.id ?? '1',
      userId: dice.pick(people).id,
      content: dice.pick(TOPICS),
      emoji: '🎉',
    };
    const wanted: Readonly<Record<(typeof READING)[number], readonly (keyof typeof all)[]>> = {
      discord_search_messages: ['guildId', 'content'],
      discord_read_messages: ['channelId'],
      discord_read_message: ['channelId', 'messageId'],
      discord_list_pins: ['channelId'],
      discord_list_threads: ['channelId'],
      discord_list_servers: [],
      discord_get_server_info: ['guildId'],
      discord_list_roles: ['guildId'],
      discord_get_member: ['guildId', 'userId'],
      discord_get_reaction_users: ['channelId', 'messageId', 'emoji'],
      discord_get_forum_channels: ['guildId'],
    };
    return { name, arguments: Object.fromEntries(wanted[name].map((key) => [key, all[key]])) };
  };
  mind.wish = wish;

  /** A channel that a member sees, or their direct messages. */
  const placeOf = (user: LocalUser): LocalChannel => {
    const seen = harness.places().filter((channel) => oracle.sees(user, channel));
    return (dice.chance(0.8) ? among(dice, seen) : undefined) ?? user.openDm(host.application);
  };
  const actorOf = (user: LocalUser, channel: LocalChannel): Actor => ({
    userId: user.id,
    guildId: channel.guild?.id ?? null,
    channelId: channel.id,
  });

  const question = () => `What of the ${dice.pick(TOPICS)} and ${oracle.mint()}?`;
  const lastOfBot = (channel: LocalChannel) =>
    channel.messages.findLast(({ author, deleted }) => author.id === host.bot.id && !deleted);

  /** Sends a question to the bot in a random way. */
  const say = (user: LocalUser, channel: LocalChannel): void => {
    const text = question();
    const former = lastOfBot(channel);
    const way = dice.between(0, 4);
    if (channel.guild === undefined) watch.asks(user, channel, user.say(channel, text));
    else if (way === 0 && former !== undefined) watch.asks(user, channel, user.say(channel, text, { replyTo: former }));
    else if (way === 1) watch.asks(user, channel, user.say(channel, `${host.bot} ${text}`));
    // These words are in no message, so none of them is unique.
    else if (way === 2) user.slash(channel, 'ai', { text: `What of the ${dice.pick(TOPICS)}?` });
    else if (way === 3 && dice.chance(0.3)) watch.asks(user, channel, user.say(channel, `!task ${text}`));
    else watch.asks(user, channel, user.say(channel, `!ai ${text}`));
  };

  const askOne = async (user: LocalUser, channel: LocalChannel) => {
    watch.answering([[user]], channel);
    mind.speakable = (markers) => speakableIn(channel, markers);
    say(user, channel);
    chronicle.note(`${user.username} asks in #${channel.name || 'a direct message'}`, [user, channel]);
    count('asked alone');
    await harness.settled();
    await decideAll();
  };
  const askAnywhere = () => {
    const user = dice.pick(people);
    return askOne(user, placeOf(user));
  };
  const askAgent = async () => {
    const { home } = harness;
    const user = among(
      dice,
      people.filter((one) => !home.deleted && oracle.sees(one, home)),
    );
    if (user !== undefined) await askOne(user, home);
  };
  const speakableIn = (channel: LocalChannel, markers: readonly string[]) => {
    const readers = [...people].filter((user) =>
      channel.guild === undefined ? channel.recipients.includes(user) : oracle.sees(user, channel),
    );
    return markers.filter((marker) => readers.every((user) => oracle.mayRead(user, marker)));
  };

  /** Resolves when the model gets a request, or after the time within which it would. */
  const untilAsked = async (before: number) => {
    const until = performance.now() + ASKED_WITHIN_MS;
    while (llm.requests.length === before && performance.now() < until) await setImmediate();
  };

  /** Other members ask in the same place while an answer is generated: they may be answered together. */
  const askTogether = async () => {
    const channel = among(dice, harness.places());
    const seeing = [...people].filter((user) => channel !== undefined && oracle.sees(user, channel));
    const [first, second, third] = seeing;
    if (channel === undefined || first === undefined || second === undefined) return;
    const others = third === undefined || dice.chance(0.5) ? [second] : [second, third];
    // The persona and tasks answer one member at a time.
    watch.answering([[first], ...others.map((user) => [user])], channel);
    mind.speakable = () => [];
    mind.holdNext = true;
    watch.asks(first, channel, first.say(channel, `!ai ${question()}`));
    await untilAsked(llm.requests.length);
    mind.holdNext = false;
    if (mind.isHolding()) await llm.hanging();
    for (const user of others) watch.asks(user, channel, user.say(channel, `!ai ${question()}`));
    await host.discord.settled();
    watch.together(others);
    chronicle.note(`${others.map(({ username }) => username).join(' and ')} ask together in #${channel.name}`, [
      channel,
      ...others,
    ]);
    count('asked together');
    mind.release();
    llm.release();
    await harness.settled();
    await decideAll();
    watch.together([]);
  };

  /** Calls a tool as the MCP endpoint and other plugins do. */
  const call = async () => {
    const user = dice.pick(people);
    const channel = placeOf(user);
    const { name, arguments: input } = wish();
    watch.answering([[user]], channel);
    chronicle.note(
      `${user.username} calls ${name} ${JSON.stringify(input)} from #${channel.name || 'a direct message'}`,
      [user],
    );
    const outcome = await host
      .resolve(Tools)
      .invoke({ name, arguments: input, actor: actorOf(user, channel), origin: 'campaign' });
    count(`call ${outcome.status}`);
    if (outcome.status === 'done') watch.read(outcome.text, user, `result of ${name}`);
    await harness.settled();
    if (outcome.status !== 'deferred') return;
    await decideAll();
    await host.advance(61_000);
    const settled = await Promise.race([outcome.settled, setImmediate(undefined)]);
    if (settled === undefined) return count('call without an end');
    if (settled.status === 'done') watch.read(settled.text, user, `result of ${name} after a card`);
  };

  const command = async () => {
    const user = dice.pick(people);
    const channel = placeOf(user);
    const words = dice.pick(COMMANDS);
    watch.answering([[user]], channel);
    chronicle.note(`${user.username} uses !${words} in #${channel.name || 'a direct message'}`, [user, channel]);
    count(`command ${words.split(' ')[0]}`);
    if (dice.chance(0.4) && SLASHED.has(words)) user.slash(channel, words);
    else user.say(channel, `!${words}`);
    await harness.settled();
  };

  const forget = async () => {
    const user = dice.pick(people);
    const channel = user.openDm(host.application);
    watch.answering([[user]], channel);
    user.say(channel, '!mydata forget everything');
    chronicle.note(`${user.username} has everything forgotten`, [user]);
    count('forgotten');
    await harness.settled();
  };

  /** Each card is decided by its requester in a random way, or ignored. */
  const decideAll = async () => {
    for (let round = 0; round < 4; round += 1) {
      const cards = watch.openCards();
      if (cards.length === 0) return;
      for (const { card, requester } of cards) await decide(card, requester);
    }
  };
  const decide = async (card: LocalMessage, requester: LocalUser) => {
    watch.decided(card);
    const way = weighted(dice, [
      [6, 'approve'],
      [2, 'here'],
      [1, 'refuse'],
      [1, 'nothing'],
    ] as const);
    watch.answering([[requester]], card.channel);
    try {
      if (way === 'here') {
        watch.choosesHere(requester, card.channel);
        requester.click(card, 'Post it here');
      } else if (way !== 'nothing') requester.react(card, way === 'approve' ? '👍' : '👎');
      count(`card: ${way}`);
      chronicle.note(`${requester.username} decides: ${way}, on a card in #${card.channel.name}`, [
        requester,
        card.channel,
      ]);
      await harness.settled();
    } catch (error) {
      // Not every card has every button, and a member who has left can press none.
      if (!(error instanceof LocalDiscordError) && !(error instanceof Error && /button/i.test(error.message)))
        throw error;
    } finally {
      watch.choosesHere(undefined, undefined);
    }
  };

  return {
    async turn() {
      watch.answering(watch.waiting(), undefined);
      await host.advance(dice.chance(0.2) ? 61_000 : MEMORY_MS);
      const way = weighted(dice, [
        [10, askAnywhere],
        [2, askAgent],
        [2, askTogether],
        [8, call],
        [4, command],
        [0.2, forget],
      ]);
      try {
        await way?.();
      } catch (error) {
        if (!(error instanceof LocalDiscordError)) throw error;
        count('refused by Discord');
        await harness.settled();
      }
    },
  };
}
