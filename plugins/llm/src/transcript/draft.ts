import type { ToolResultContent, ToolUseContent } from '@cinnabar/sdk';
import type { Part } from './turns.js';
import { addMessage } from './user-parts.js';

interface DraftUser {
  readonly role: 'user';
  parts: readonly Part[];
}
interface DraftAssistant {
  readonly role: 'assistant';
  text: string;
  readonly calls: { readonly block: ToolUseContent; readonly at: number }[];
  /** A result has come in: what is called next belongs to another turn. */
  answered: boolean;
  cache: boolean;
  cacheResults: boolean;
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
  mark(after: 'words' | 'results'): void;
  /** Takes the first result for a call that came after it. */
  takeResult(id: string, after: number): ToolResultContent | undefined;
}

export function createDraft(): Draft {
  const turns: DraftTurn[] = [];
  const results: { readonly block: ToolResultContent; readonly at: number; taken: boolean }[] = [];
  let clock = 0;

  const openAssistant = (fits: (turn: DraftAssistant) => boolean): DraftAssistant => {
    const last = turns.at(-1);
    if (last?.role === 'assistant' && fits(last)) return last;
    const turn: DraftAssistant = {
      role: 'assistant',
      text: '',
      calls: [],
      answered: false,
      cache: false,
      cacheResults: false,
    };
    turns.push(turn);
    return turn;
  };

  return {
    turns,
    hear(label, message) {
      const last = turns.at(-1);
      if (last?.role === 'user') last.parts = addMessage(last.parts, label, message);
      else turns.push({ role: 'user', parts: addMessage([], label, message) });
    },
    say(text) {
      const turn = openAssistant(({ calls }) => calls.length === 0);
      turn.text = turn.text === '' ? text : `${turn.text}\n${text}`;
    },
    call(block) {
      openAssistant(({ answered }) => !answered).calls.push({ block, at: clock++ });
    },
    result(block) {
      results.push({ block, at: clock++, taken: false });
      const last = turns.at(-1);
      if (last?.role === 'assistant' && last.calls.length > 0) last.answered = true;
    },
    mark(after) {
      const last = turns.at(-1);
      if (last?.role === 'user') {
        last.parts = last.parts.map((part, index) =>
          index === last.parts.length - 1 ? { ...part, cache: true } : part,
        );
      } else if (last !== undefined) {
        if (after === 'results' && last.calls.length > 0) last.cacheResults = true;
        else last.cache = true;
      }
    },
    takeResult(id, after) {
      const found = results.find(({ block, at, taken }) => !taken && at > after && block.toolUseId === id);
      if (found !== undefined) found.taken = true;
      return found?.block;
    },
  };
}
