import {
  type Actor,
  type CompletedAction,
  type PersonaContact,
  type PersonaTrigger,
  sanitizeName,
  type TextLimits,
  type ToolInfo,
  type Turn,
  withoutNotes,
} from '@cinnabar/sdk';
import type { Message, SendableChannels } from 'discord.js';
import type { Line } from '../conversation/conversation-store.js';
import { extrasOf } from '../conversation/conversation-sync.js';
import type { ReflectionState } from '../memory/types.js';
import type { SendText } from './message-sender.js';

/** What a persona runs on, with what it may do about it. */
export interface TriggerContext {
  readonly trigger: PersonaTrigger;
  readonly channel: SendableChannels;
  readonly guildId: string | null;
  /** For whom tools are used; `undefined` where the persona acts unasked. */
  readonly actor: Actor | undefined;
  readonly tools: readonly ToolInfo[];
  readonly send: SendText;
  /** How long an answer may be before it becomes a file. */
  readonly limits?: TextLimits | undefined;
  /** The message that is answered. */
  readonly message: Message | null;
  readonly reflection?: ReflectionState | undefined;
  /** What an earlier run has done about the same words, while a tool call had to wait. */
  readonly before?: readonly CompletedAction[];
  readonly signal: AbortSignal;
}

/** The member whose words or deeds led to the run. */
export function speakerIn(trigger: PersonaTrigger): PersonaContact | undefined {
  switch (trigger.type) {
    case 'user_input':
    case 'tool_result':
      return trigger.speaker;
    case 'reaction':
      return trigger.by;
    case 'member_joined':
      return trigger.member;
    default:
      return undefined;
  }
}

/** The trigger with the names by which people are called in the conversation. */
export function withNamesOf(trigger: PersonaTrigger, names: ReadonlyMap<string, string>): PersonaTrigger {
  const named = (contact: PersonaContact) => ({ ...contact, name: names.get(contact.userId) ?? contact.name });
  switch (trigger.type) {
    case 'user_input':
    case 'tool_result':
      return { ...trigger, speaker: named(trigger.speaker) };
    case 'reaction':
      return { ...trigger, by: named(trigger.by) };
    case 'member_joined':
      return { ...trigger, member: named(trigger.member) };
    default:
      return trigger;
  }
}

/** What has just happened, as data for the prompt. */
export function happening(trigger: PersonaTrigger): Readonly<Record<string, unknown>> {
  const { content } = trigger;
  switch (trigger.type) {
    case 'user_input':
      return { what: 'somebody said something to me', from: trigger.speaker.name, said: content };
    case 'tool_result':
      return {
        what: 'a tool call that had to wait has ended',
        for: trigger.speaker.name,
        tool: trigger.tool,
        result: content,
      };
    case 'timer':
      return { what: 'nobody has said anything to me; some time has passed', note: content };
    case 'self_reflection':
      return { what: 'a quiet moment to reflect on what has happened', note: content };
    case 'reaction':
      return {
        what: 'somebody reacted to what I said',
        who: trigger.by.name,
        with: trigger.emoji,
        'what I had said': content,
      };
    case 'member_joined':
      return { what: 'somebody new has joined the server', who: trigger.member.name };
  }
}

/** Why the persona ran, in the first person, for the receipt. */
export function reasonFor(trigger: PersonaTrigger): string {
  switch (trigger.type) {
    case 'user_input':
      return 'I was spoken to';
    case 'tool_result':
      return `A call of ${trigger.tool} that had to wait has ended`;
    case 'timer':
      return 'It was time to think of my own accord';
    case 'self_reflection':
      return 'Enough had happened to reflect on it';
    case 'reaction':
      return 'Somebody reacted to what I had said';
    case 'member_joined':
      return 'Somebody joined';
  }
}

/** The trigger of a turn. */
export function userInput({ user, member, message, text }: Turn, now: number): PersonaTrigger {
  const displayName = member?.displayName ?? user.displayName;
  return {
    type: 'user_input',
    content: heard(text, message),
    at: message?.createdTimestamp ?? now,
    speaker: { userId: user.id, name: sanitizeName(displayName) || sanitizeName(user.username) || 'someone' },
    messageId: message?.id ?? null,
  };
}

/** The turn as a line of the conversation. */
export function lineOfTurn({ user, member, message, text }: Turn, now: number): Line {
  return {
    messageIds: message === null ? [] : [message.id],
    userId: user.id,
    displayName: member?.displayName ?? user.displayName,
    username: user.username,
    text: heard(text, message),
    at: message?.createdTimestamp ?? now,
    ...(message === null ? {} : extrasOf(message)),
  };
}

function heard(text: string, message: Message | null): string {
  if (text.trim() !== '') return withoutNotes(text);
  return message !== null && message.attachments.size > 0 ? '' : '[calls me without a word]';
}
