import type { CacheControl, LlmRequest, ParticipantMessage, ToolResultContent, ToolUseContent } from '@cinnabar/sdk';
import {
  addMessage,
  addText,
  type CallResult,
  type GrowingPart,
  type ImageRule,
  labelParticipants,
  type Part,
  showable,
  speechNote,
  type Transcript,
  type Turn,
} from './turns.js';

const NO_RESULT = 'no result recorded';
const STARTS_EARLIER: Turn = { role: 'user', parts: [{ type: 'text', text: '(What was said before is not shown.)' }] };
const YOUR_TURN: Turn = {
  role: 'user',
  parts: [{ type: 'text', text: '(Nobody has spoken since. It is your turn.)' }],
};

/**
 * Converts a conversation for chat mode: participants become roles by `self`, names stay in the text of grouped user turns, and results move directly behind
 * their calls. Empty messages of the model (the completion target) are removed; calls without a result get one that says so; results without a call are left
 * out. A cache mark stays at the end of its participant's text, even when that is merged with others. In a request with cache marks, each message is a separate
 * part, since a provider compares prompts part by part while the marks move.
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

interface DraftUser {
  readonly role: 'user';
  readonly parts: GrowingPart[];
}
interface DraftAssistant {
  readonly role: 'assistant';
  readonly texts: GrowingPart[];
  readonly calls: { readonly block: ToolUseContent; readonly at: number }[];
  /** Whether results have been added: the next call belongs to another turn. */
  answered: boolean;
  cache: CacheControl | undefined;
  cacheResults: CacheControl | undefined;
}
type DraftTurn = DraftUser | DraftAssistant;

/** Groups messages into turns, in order, and collects results in any position. */
interface Draft {
  readonly turns: readonly DraftTurn[];
  hear(label: string, message: readonly Part[]): void;
  say(text: string): void;
  call(block: ToolUseContent): void;
  result(block: ToolResultContent): void;
  /** Marks the end of what has been added so far as the end of a cached prefix. */
  mark(after: 'words' | 'results', cache: CacheControl): void;
  /** Removes and returns the first result after the call with this id. */
  takeResult(id: string, after: number): ToolResultContent | undefined;
}

/** @param apart whether each message is a separate part, so that parts stay the same when the cache marks move */
function createDraft(apart: boolean): Draft {
  const turns: DraftTurn[] = [];
  const results = new Map<string, { readonly block: ToolResultContent; readonly at: number; taken: boolean }[]>();
  let clock = 0;

  const openAssistant = (fits: (turn: DraftAssistant) => boolean): DraftAssistant => {
    const last = turns.at(-1);
    if (last?.role === 'assistant' && fits(last)) return last;
    const turn: DraftAssistant = {
      role: 'assistant',
      texts: [],
      calls: [],
      answered: false,
      cache: undefined,
      cacheResults: undefined,
    };
    turns.push(turn);
    return turn;
  };

  return {
    turns,
    hear(label, message) {
      const last = turns.at(-1);
      if (last?.role === 'user') return addMessage(last.parts, label, message, apart);
      const parts: GrowingPart[] = [];
      addMessage(parts, label, message, apart);
      turns.push({ role: 'user', parts });
    },
    say(text) {
      addText(openAssistant(({ calls }) => calls.length === 0).texts, text, apart);
    },
    call(block) {
      openAssistant(({ answered }) => !answered).calls.push({ block, at: clock++ });
    },
    result(block) {
      const same = results.get(block.toolUseId) ?? [];
      same.push({ block, at: clock++, taken: false });
      results.set(block.toolUseId, same);
      const last = turns.at(-1);
      if (last?.role === 'assistant' && last.calls.length > 0) last.answered = true;
    },
    mark(after, cache) {
      const last = turns.at(-1);
      if (last?.role === 'assistant' && last.calls.length > 0) {
        if (after === 'results') last.cacheResults = cache;
        else last.cache = cache;
        return;
      }
      const part = (last?.role === 'user' ? last.parts : last?.texts)?.at(-1);
      if (part !== undefined) part.cache = cache;
    },
    takeResult(id, after) {
      const found = results.get(id)?.find(({ at, taken }) => !taken && at > after);
      if (found !== undefined) found.taken = true;
      return found?.block;
    },
  };
}

const FITS_EVERY_PROVIDER = /^[a-zA-Z0-9_-]{1,64}$/;

/** Assigns ids to calls: the original id if every provider accepts it and it is unique, otherwise a new one. */
function createCallIds(): (wanted: string) => string {
  const used = new Set<string>();
  return (wanted) => {
    let id = wanted;
    for (let number = 1; used.has(id) || !FITS_EVERY_PROVIDER.test(id); number++) id = `call_${number}`;
    used.add(id);
    return id;
  };
}

/** A tool name that every provider accepts: models sometimes call names that do not exist. */
export function callableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}
