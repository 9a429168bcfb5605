import type { CacheControl, ToolResultContent, ToolUseContent } from '@cinnabar/sdk';
import type { Part } from './turns.js';
import { addMessage, addText, type GrowingPart } from './user-parts.js';

interface DraftUser {
  readonly role: 'user';
  readonly parts: GrowingPart[];
}
interface DraftAssistant {
  readonly role: 'assistant';
  readonly texts: GrowingPart[];
  readonly calls: { readonly block: ToolUseContent; readonly at: number }[];
  /** A result has come in: what is called next belongs to another turn. */
  answered: boolean;
  cache: CacheControl | undefined;
  cacheResults: CacheControl | undefined;
}
export type DraftTurn = DraftUser | DraftAssistant;

/** Groups what is said into turns, in order, and collects results wherever they come. */
export interface Draft {
  readonly turns: readonly DraftTurn[];
  hear(label: string, message: readonly Part[]): void;
  say(text: string): void;
  call(block: ToolUseContent): void;
  result(block: ToolResultContent): void;
  /** Marks the end of what has been added so far as the end of a cached prefix. */
  mark(after: 'words' | 'results', cache: CacheControl): void;
  /** Takes the first result for a call that came after it. */
  takeResult(id: string, after: number): ToolResultContent | undefined;
}

/** @param apart whether each message keeps parts of its own, so that they stay the same wherever the marks are */
export function createDraft(apart: boolean): Draft {
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
