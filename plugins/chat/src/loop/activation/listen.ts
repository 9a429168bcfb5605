import {
  type Clock,
  type Commands,
  type FrontDoor,
  isNotice,
  type Logger,
  type Random,
  type Registrar,
  withoutNoticeMark,
} from '@cinnabar/sdk';
import type { Client, Message } from 'discord.js';
import { createBotAnswers } from './bot-answers.js';
import { createChains } from './chains.js';
import type { RuleBook, Rules } from './rules.js';
import { triggerOf } from './trigger.js';

export interface ActivationParts extends Pick<Registrar, 'on' | 'defer'> {
  readonly client: Client;
  readonly rules: RuleBook;
  readonly frontDoor: FrontDoor;
  readonly commands: Commands;
  readonly random: Random;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What a person says in a message, or a bot in the messages of one answer. */
type Said = readonly [Message, ...Message[]];

/** Answers what was not said to the bot, where the configuration wants that. For other messages it costs a few look-ups in memory. */
export function listenForMore(parts: ActivationParts): void {
  const { on, defer, client, rules, frontDoor, commands, random, clock, log } = parts;
  const chains = createChains();

  const judge = (said: Said, known: Rules, chain: number): Promise<unknown> | undefined => {
    const botId = client.user?.id ?? '';
    const trigger = triggerOf(said, known, { botId, chain, random });
    const last = said.at(-1) ?? said[0];
    if (trigger === undefined || commands.matches(last)) return undefined;
    const text = said.map(({ content }) => withoutNoticeMark(content)).join('\n');
    return frontDoor.take(last, { trigger, responder: 'chat', ...(said.length === 1 ? {} : { text }) });
  };
  const judgeLater = async (said: Said, chain: number) => {
    const [{ channel }] = said;
    if (channel.isSendable()) await judge(said, await rules.refresh(channel), chain);
  };
  const consider = (said: Said, chain: number): Promise<unknown> | undefined => {
    const [{ channelId }] = said;
    const known = rules.of(channelId);
    if (known === undefined || rules.isStale(channelId)) return judgeLater(said, chain);
    return judge(said, known, chain);
  };
  const answers = createBotAnswers({
    clock,
    count: chains.note,
    onWhole: async ({ messages, chain }) => consider(messages, chain),
    onError: (error) => log.warn('what a bot said could not be considered', { error }),
  });
  defer(answers.close);

  on('messageCreate', (message) => {
    // What another bot says about itself is said to members, and counts as no message in a chain.
    if (message.guildId === null || isNotice(message)) return undefined;
    if (message.author.bot || message.webhookId !== null) return answers.add(message);
    return consider([message], chains.note(message));
  });
  on('messageDelete', answers.remove);
  on('channelPinsUpdate', ({ id }) => rules.readPins(id));
  on('messageUpdate', (_old, message) => {
    if (message.pinned) rules.readPins(message.channelId);
    return answers.change(message);
  });
}
