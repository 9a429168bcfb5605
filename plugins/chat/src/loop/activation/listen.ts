import { type Commands, type FrontDoor, isNotice, type Random, type Registrar } from '@cinnabar/sdk';
import type { Client, Message } from 'discord.js';
import { createChains } from './chains.js';
import type { RuleBook, Rules } from './rules.js';
import { triggerOf } from './trigger.js';

export interface ActivationParts extends Pick<Registrar, 'on'> {
  readonly client: Client;
  readonly rules: RuleBook;
  readonly frontDoor: FrontDoor;
  readonly commands: Commands;
  readonly random: Random;
}

/** Answers what was not said to the bot, where the configuration wants that. For other messages it costs a few look-ups in memory. */
export function listenForMore({ on, client, rules, frontDoor, commands, random }: ActivationParts): void {
  const chains = createChains();

  const judge = (message: Message, known: Rules, chain: number): Promise<unknown> | undefined => {
    const botId = client.user?.id ?? '';
    const trigger = triggerOf(message, known, { botId, chain, random });
    if (trigger === undefined || commands.matches(message)) return undefined;
    return frontDoor.take(message, { trigger, responder: 'chat' });
  };
  const judgeLater = async (message: Message, chain: number) => {
    if (!message.channel.isSendable()) return;
    await judge(message, await rules.refresh(message.channel), chain);
  };

  on('messageCreate', (message) => {
    // What another bot says about itself is said to members, and counts as no message in a chain.
    if (message.guildId === null || isNotice(message)) return undefined;
    const chain = chains.note(message);
    const known = rules.of(message.channelId);
    if (known === undefined || rules.isStale(message.channelId)) return judgeLater(message, chain);
    return judge(message, known, chain);
  });
  on('channelPinsUpdate', ({ id }) => rules.readPins(id));
  on('messageUpdate', (_old, { pinned, channelId }) => {
    if (pinned) rules.readPins(channelId);
  });
}
