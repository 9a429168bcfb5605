import type { LlmRequest, ParticipantMessage, ToolResultContent } from '@cinnabar/sdk';
import { callableName, createCallIds } from './call-ids.js';
import { createDraft, type Draft, type DraftTurn } from './draft.js';
import { labelParticipants } from './labels.js';
import { speechNote } from './speech.js';
import type { CallResult, Part, Transcript, Turn } from './turns.js';
import { type ImageRule, showable } from './user-parts.js';

const NO_RESULT = 'no result recorded';
const STARTS_EARLIER: Turn = { role: 'user', parts: [{ type: 'text', text: '(What was said before is not shown.)' }] };
const YOUR_TURN: Turn = {
  role: 'user',
  parts: [{ type: 'text', text: '(Nobody has spoken since. It is your turn.)' }],
};

/**
 * Chat mode: participants become roles by `self`, names stay in the text of grouped user turns, and
 * results move directly behind their calls whatever was said in between. Empty messages of the model (the completion target)
 * vanish; calls without a result get one that says so; results without a call are left out. A cache mark stays at the end of what its
 * participant said, whatever that is merged with; where there are marks, each message is a part of its own, since a provider compares
 * part by part and marks move on.
 */
export function toTranscript(request: LlmRequest, imageRule: ImageRule): Transcript {
  const labels = labelParticipants(
    request.messages.map((message) => message.participant).filter((participant) => participant !== request.self),
    request.self,
  );
  const draft = createDraft(request.messages.some(({ cacheControl }) => cacheControl !== undefined));
  for (const message of request.messages) {
    addToDraft(draft, message, labels.get(message.participant), imageRule);
  }
  const turns = finish(draft, imageRule);
  return {
    system: [request.system ?? '', speechNote(request.self)].filter((text) => text.trim() !== '').join('\n\n'),
    turns: [
      ...(turns[0]?.role === 'user' ? [] : [turns.length === 0 ? YOUR_TURN : STARTS_EARLIER]),
      ...turns,
      ...(turns.at(-1)?.role === 'assistant' ? [YOUR_TURN] : []),
    ],
  };
}

/** @param label `undefined` for the model itself */
function addToDraft(draft: Draft, message: ParticipantMessage, label: string | undefined, imageRule: ImageRule): void {
  const heard: Part[] = [];
  let after: 'words' | 'results' = 'words';
  for (const block of message.content) {
    if (block.type === 'tool_use') draft.call(block);
    else if (block.type === 'tool_result') {
      draft.result(block);
      after = 'results';
    } else if (label !== undefined) {
      const part = showable(block, imageRule);
      if (part !== undefined) heard.push(part);
    } else if (block.type === 'text' && block.text.trim() !== '') draft.say(block.text.trimEnd());
  }
  if (label !== undefined && heard.length > 0) draft.hear(label, heard);
  if (message.cacheControl !== undefined) draft.mark(after, message.cacheControl);
}

function finish(draft: Draft, imageRule: ImageRule): readonly Turn[] {
  const idFor = createCallIds();
  return draft.turns.flatMap((turn) => finishTurn(turn, draft, idFor, imageRule));
}

function finishTurn(
  turn: DraftTurn,
  draft: Draft,
  idFor: (wanted: string) => string,
  imageRule: ImageRule,
): readonly Turn[] {
  if (turn.role === 'user') return [turn];
  const calls = turn.calls.map(({ block, at }) => ({
    call: { id: idFor(block.id), name: callableName(block.name), input: block.input },
    found: draft.takeResult(block.id, at),
  }));
  const assistant: Turn = {
    role: 'assistant',
    texts: turn.texts.filter((part) => part.type === 'text'),
    calls: calls.map(({ call }) => call),
    cache: turn.cache,
  };
  if (calls.length === 0) return [assistant];
  const results = calls.map(({ call, found }) => toResult(call.id, found, imageRule));
  return [assistant, { role: 'results', results, cache: turn.cacheResults }];
}

function toResult(id: string, found: ToolResultContent | undefined, imageRule: ImageRule): CallResult {
  if (found === undefined) return { id, parts: [{ type: 'text', text: NO_RESULT }], isError: true };
  const content = typeof found.content === 'string' ? [{ type: 'text' as const, text: found.content }] : found.content;
  const parts = content.map((block) => showable(block, imageRule)).filter((part) => part !== undefined);
  return {
    id,
    parts: parts.length > 0 ? parts : [{ type: 'text', text: '(empty)' }],
    isError: found.isError === true,
  };
}
