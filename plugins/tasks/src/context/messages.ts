import type { CacheControl, ContentBlock, ParticipantMessage } from '@cinnabar/sdk';
import type { Call, Entry, Task } from '../model/task.js';
import { textOf } from './compact.js';

/** As whom the loop itself speaks to the model. */
const LOOP = 'Task';
const CACHE: CacheControl = { type: 'ephemeral' };
/** The end, and the one before: what was written to the cache there is read now. */
const MARKS = 2;

/**
 * The conversation as the model reads it: the goal, what has been left behind with everything that must not be forgotten, then step by step.
 * It only ever grows at its end until it is compacted, so the marks at its end and at the one before let providers read all of it from a cache.
 */
export function messagesOf(
  task: Pick<Task, 'prompt' | 'requester' | 'scratchpad' | 'entries' | 'unknowns'>,
  self: string,
): readonly ParticipantMessage[] {
  const parts = [
    [said(task.requester, `My task for you: ${task.prompt}`), ...leftBehind(task)],
    ...task.entries.map((entry) => messagesOfEntry(entry, self)),
  ].filter((part) => part.length > 0);
  return parts.flatMap((part, index) => (index < parts.length - MARKS ? part : withMark(part)));
}

function withMark(part: readonly ParticipantMessage[]): readonly ParticipantMessage[] {
  return part.map((message, index) => (index === part.length - 1 ? { ...message, cacheControl: CACHE } : message));
}

function leftBehind({ scratchpad, unknowns }: Pick<Task, 'scratchpad' | 'unknowns'>): readonly ParticipantMessage[] {
  if (scratchpad.length === 0) return [];
  const lines = [
    'What was done so far, shortened:',
    ...scratchpad.map((line) => `- ${textOf(line)}`),
    ...(unknowns.length === 0
      ? []
      : ['Nobody knows whether these took effect:', ...unknowns.map((line) => `- ${line}`)]),
  ];
  return [said(LOOP, lines.join('\n'))];
}

function messagesOfEntry(entry: Entry, self: string): readonly ParticipantMessage[] {
  if (entry.kind === 'note') return [said(LOOP, entry.text)];
  const text: ContentBlock[] = entry.text === '' ? [] : [{ type: 'text', text: entry.text }];
  if (entry.calls.length === 0) return text.length === 0 ? [] : [{ participant: self, content: text }];
  return [
    { participant: self, content: [...text, ...entry.calls.map(useOf)] },
    { participant: self, content: entry.calls.map(resultOf) },
  ];
}

const said = (participant: string, text: string): ParticipantMessage => ({
  participant,
  content: [{ type: 'text', text }],
});

const useOf = ({ id, name, input }: Call): ContentBlock => ({ type: 'tool_use', id, name, input });

const resultOf = ({ id, result = 'Not carried out.', outcome }: Call): ContentBlock => ({
  type: 'tool_result',
  toolUseId: id,
  content: result,
  ...(outcome === 'done' || outcome === 'told' ? {} : { isError: true }),
});
