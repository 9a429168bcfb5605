import type { ParticipantMessage, TextContent, ToolResultContent, ToolUseContent, Turn } from '@cinnabar/sdk';
import { type Message, MessageType } from 'discord.js';
import type { HeldCall } from '../calls.js';
import { type People, speakerOf } from './people.js';
import { notesOn, type Reading, readable } from './text.js';
import { byId } from './window.js';

/** A held call and what became of it. */
export interface RecalledCall {
  readonly held: HeldCall;
  readonly outcome: { readonly text: string; readonly isError: boolean };
}

export interface TimelineParts {
  readonly turn: Turn;
  /** Oldest first. */
  readonly messages: readonly Message[];
  readonly calls: readonly RecalledCall[];
  readonly people: People;
  readonly botId: string;
  /** Takes the command's prefix and name from what was said to the bot. */
  withoutCommand(content: string): string;
}

const SPOKEN: ReadonlySet<MessageType> = new Set([
  MessageType.Default,
  MessageType.Reply,
  MessageType.ChatInputCommand,
  MessageType.ContextMenuCommand,
]);

/**
 * The conversation as the model reads it, oldest first, held calls where they were made, and what is asked now at the end.
 * What others have written since then is left for their own turns; the bot's own messages belong to what came before.
 */
export function timelineOf(parts: TimelineParts): readonly ParticipantMessage[] {
  const { turn, messages, calls, botId } = parts;
  const asked = turn.message;
  const past = messages.filter((message) => {
    if (message.id === asked?.id || !SPOKEN.has(message.type) || isControl(message, botId)) return false;
    return asked === null || message.author.id === botId || byId(message, asked) < 0;
  });
  const timeline: ParticipantMessage[] = [];
  const pending = [...groupBySteps(calls)];
  const addCallsBefore = (id: string | undefined) => {
    for (let next = pending[0]; next !== undefined && isBefore(next, id); next = pending[0]) {
      timeline.push(...spokenCalls(next, parts.people.self));
      pending.shift();
    }
  };
  for (const message of past) {
    addCallsBefore(message.id);
    const spoken = speak(message, parts);
    if (spoken !== undefined) timeline.push(spoken);
  }
  addCallsBefore(undefined);
  return [...timeline, question(parts, past.at(-1))];
}

/** Cards and other messages with controls say nothing that the calls do not, and are not to be imitated. */
function isControl(message: Message, botId: string): boolean {
  if (message.author.id !== botId) return false;
  if (message.components.length > 0) return true;
  const mine = message.reactions.cache.filter(({ me }) => me).map(({ emoji }) => emoji.name);
  return mine.includes('👍') && mine.includes('👎');
}

function speak(message: Message, parts: TimelineParts): ParticipantMessage | undefined {
  const reading = readingOf(parts);
  const own = message.author.id === parts.botId;
  const said = readable(own ? message.content : parts.withoutCommand(message.content), reading);
  const content = [said, ...notesOn(message), ...(own ? [] : replyNote(message, parts))].filter((text) => text !== '');
  if (content.length === 0) return undefined;
  return {
    participant: parts.people.nameOf(speakerOf(message)) ?? 'someone',
    content: [text(content.join('\n'))],
    timestamp: message.createdAt,
    messageId: message.id,
  };
}

function question(parts: TimelineParts, previous: Message | undefined): ParticipantMessage {
  const { turn, people } = parts;
  const { message } = turn;
  const participant = people.nameOf(turn.user.id) ?? 'someone';
  const answersPrevious = message === null || message.reference?.messageId === previous?.id;
  const notes = message === null ? [] : [...notesOn(message), ...(answersPrevious ? [] : replyNote(message, parts))];
  const said = [readable(turn.text, readingOf(parts)), ...notes].filter((line) => line !== '');
  const content = [text(said.join('\n') || '[calls you without a word]')];
  return message === null
    ? { participant, content }
    : { participant, content, timestamp: message.createdAt, messageId: message.id };
}

function replyNote(message: Message, { people, messages }: TimelineParts): readonly string[] {
  if (message.type !== MessageType.Reply) return [];
  const target = messages.find(({ id }) => id === message.reference?.messageId);
  const name = target === undefined ? undefined : people.nameOf(speakerOf(target));
  return [name === undefined ? '[in reply to an earlier message]' : `[in reply to ${name}]`];
}

function readingOf({ people, turn }: TimelineParts): Reading {
  return { people, channel: turn.channel, member: turn.member };
}

/** Calls of one step of the model, in the order in which they were made. */
function groupBySteps(calls: readonly RecalledCall[]): Iterable<readonly RecalledCall[]> {
  const steps = new Map<string, RecalledCall[]>();
  for (const call of calls) steps.set(call.held.step, [...(steps.get(call.held.step) ?? []), call]);
  return steps.values();
}

function isBefore(calls: readonly RecalledCall[], id: string | undefined): boolean {
  return id === undefined || byId({ id: calls[0]?.held.afterId ?? '0' }, { id }) < 0;
}

function spokenCalls(calls: readonly RecalledCall[], participant: string): readonly ParticipantMessage[] {
  const uses = calls.map(
    ({ held }): ToolUseContent => ({ type: 'tool_use', id: held.callId, name: held.tool, input: held.input }),
  );
  const results = calls.map(
    ({ held, outcome }): ToolResultContent => ({
      type: 'tool_result',
      toolUseId: held.callId,
      content: outcome.text,
      ...(outcome.isError ? { isError: true } : {}),
    }),
  );
  return [
    { participant, content: uses },
    { participant, content: results },
  ];
}

function text(said: string): TextContent {
  return { type: 'text', text: said };
}
