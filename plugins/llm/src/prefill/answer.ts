import type { LlmCompletion, LlmRequest, MalformedToolUseContent, ToolUseContent } from '@cinnabar/sdk';
import { readToolCall } from '../providers/json.js';
import { castOf } from './script.js';

/** What the model wrote, told apart. */
interface ReadAnswer {
  readonly text: string;
  readonly calls: readonly (ToolUseContent | MalformedToolUseContent)[];
  /** It went on as another speaker, or made up a result: what follows is left out. */
  readonly cut: boolean;
}

export interface AnswerReader {
  /** @param raw what followed the model's name */
  read(raw: string, idFor: () => string): ReadAnswer;
  /** Whether a line that is not finished could still turn out to be a speaker's, a call or a result. */
  isUndecided(line: string): boolean;
}

const FENCE = /^\s{0,3}(```|~~~)/;

/**
 * Reads answers to one request. A call is a line at the margin, outside code fences, in the model's own name: what it quotes of others
 * stands in its sentences, its fences or indented, and is never one. After a call only further calls count: anything else was written
 * without its result.
 */
export function createAnswerReader(request: LlmRequest): AnswerReader {
  const { self, labels } = castOf(request);
  const withTools = (request.tools ?? []).length > 0;
  const call = `${self}>[`;
  const forgeries = [...[...labels.values(), self].map((label) => `${label}:`), `${self}<[`];
  const isForged = (line: string) => forgeries.some((opening) => line.startsWith(opening));
  const isCall = (line: string) => withTools && toolIn(line, call) !== undefined;

  /** The name has been written for the model: an answer may go on with the arrow. */
  const toolAt = (line: string, at: number): WrittenTool | undefined => {
    if (!withTools) return undefined;
    return toolIn(line, call) ?? (at === 0 ? toolIn(line, '>[') : undefined);
  };

  return {
    isUndecided: (line) => [...forgeries, call].some((opening) => opening.startsWith(line) || line.startsWith(opening)),

    read(raw, idFor) {
      const { text, atMargin } = afterOwnName(raw, self);
      const end = endOfWords(
        text,
        (line, at) => toolAt(line, at) !== undefined || ((at > 0 || atMargin) && isForged(line)),
      );
      const calls: (ToolUseContent | MalformedToolUseContent)[] = [];
      let at = end;
      while (at < text.length) {
        const line = text.slice(at, endOfLine(text, at));
        const tool = toolAt(line, at);
        if (tool === undefined && line.trim() !== '') break;
        const written = tool && readArguments(text, at + tool.length, (next) => isForged(next) || isCall(next));
        if (tool !== undefined && written !== undefined) calls.push(readToolCall(idFor(), tool.name, written.input));
        // What follows the arguments on their line belongs to nothing.
        at = endOfLine(text, written?.end ?? at) + 1;
      }
      return { text: text.slice(0, end).trimEnd(), calls, cut: isForged(text.slice(at)) };
    },
  };
}

/** Where the first line begins that is no word of the model's, outside code fences. */
function endOfWords(text: string, isOther: (line: string, at: number) => boolean): number {
  let fenced = false;
  for (let at = 0; at < text.length; at = endOfLine(text, at) + 1) {
    const line = text.slice(at, endOfLine(text, at));
    if (!fenced && isOther(line, at)) return at;
    if (FENCE.test(line)) fenced = !fenced;
  }
  return text.length;
}

/** Content as in a completion: text, then calls. */
export function contentOf({ text, calls }: ReadAnswer): LlmCompletion['content'] {
  return [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls];
}

/** The name in `Claude>[name]:`, and how much of the line that is. */
interface WrittenTool {
  readonly name: string;
  readonly length: number;
}

function toolIn(line: string, opening: string): WrittenTool | undefined {
  if (!line.startsWith(opening)) return undefined;
  const close = line.indexOf(']', opening.length);
  const name = line.slice(opening.length, close).trim();
  if (close < 0 || !/^[\w.-]{1,64}$/.test(name)) return undefined;
  return { name, length: close + 1 + (line[close + 1] === ':' ? 1 : 0) };
}

/** Some models begin with the name that has been written for them, or on a new line. */
function afterOwnName(raw: string, self: string): { readonly text: string; readonly atMargin: boolean } {
  const start = raw.trimStart();
  if (start.startsWith(`${self}:`)) return { text: start.slice(self.length + 1).trimStart(), atMargin: false };
  return { text: start, atMargin: /^[^\S\n]*\n/.test(raw) };
}

/**
 * The arguments of a written call: a JSON object over as many lines as it takes, else the rest of the line.
 * @param isAnother whether a line begins something else, so that an object that is never closed ends before it
 */
function readArguments(
  text: string,
  start: number,
  isAnother: (line: string) => boolean,
): { readonly input: string; readonly end: number } {
  const brace = start + text.slice(start).search(/\S|$/);
  const end = text[brace] === '{' ? endOfObject(text, brace, isAnother) : endOfLine(text, start);
  return { input: text.slice(Math.min(brace, end), end).trim(), end };
}

/** Behind the brace that closes the object. */
function endOfObject(text: string, start: number, isAnother: (line: string) => boolean): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '\n' && isAnother(text.slice(at + 1, endOfLine(text, at + 1)))) return at;
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Where the line that holds `from` ends: at its line break, or at the end of the text. */
function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
