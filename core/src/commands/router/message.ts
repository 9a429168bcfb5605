import type { Actor } from '@cinnabar/sdk';
import type { Message } from 'discord.js';
import type { Answers } from '../answers/answers.js';
import { answerMessage } from '../answers/prefix.js';
import { readArguments } from '../parser/arguments.js';
import type { CommandEntry, Entry, GroupEntry } from '../registry/entry.js';
import { answerFailure } from './answer-failure.js';
import type { Call } from './call.js';
import { descend } from './descend.js';
import { type Execution, execute } from './execute.js';
import { groupHelp } from './group-help.js';
import type { Recognised } from './recognise.js';
import { shownPrefix, usageBlock } from './usage-block.js';

/** On whose behalf a message asks, and where. */
export function actorOf(message: Message): Actor {
  return { userId: message.author.id, guildId: message.guildId, channelId: message.channelId };
}

/** Runs the command that a message names; a group without one shows its help. */
export function runMessage(
  execution: Execution,
  message: Message,
  entry: Entry,
  { prefix, end }: Recognised,
): Promise<void> | undefined {
  if (!message.channel.isSendable()) return undefined;
  const answers = answerMessage(message, message.channel, { ...execution, signal: entry.owner.scope.signal });
  const descent = descend(entry, message.content, end);
  return 'command' in descent
    ? execute(execution, callOf(message, descent.command, prefix, descent.end, answers))
    : explainGroup(execution, message, descent.group, shownPrefix(prefix, message.client), descent.stray, answers);
}

function callOf(message: Message, entry: CommandEntry, prefix: string, end: number, answers: Answers): Call {
  return {
    entry,
    source: 'prefix',
    prefix,
    actor: actorOf(message),
    place: {
      client: message.client,
      guild: message.guild,
      user: message.author,
      attachments: message.attachments,
    },
    message,
    answers,
    channel: () => message.channel,
    member: () => message.member ?? message.guild?.members.fetch(message.author.id) ?? null,
    given: () => readArguments(entry.specs, message.content, end, [...message.attachments.keys()]),
    show: ({ sentence, option }) => `${sentence}\n${usageBlock(entry, shownPrefix(prefix, message.client), option)}`,
  };
}

async function explainGroup(
  execution: Execution,
  message: Message,
  group: GroupEntry,
  prefix: string,
  stray: string | undefined,
  answers: Answers,
): Promise<void> {
  const actor = actorOf(message);
  try {
    const content = await groupHelp(execution.access, actor, group, prefix, stray);
    await answers.reply({ content, notice: true });
  } catch (error) {
    const failed = { what: `help of ${group.name}`, actor, error, log: group.owner.log, forOperator: false };
    await answerFailure(execution, failed, answers);
  }
}
