import type { LlmRequest } from '@cinnabar/sdk';
import type { AnswerReader } from '../prefill/answer.js';

/** What of an unfinished answer may be shown already: a beginning of what will be its text. */
export type Shown = (raw: string) => string;

/** In chat mode: everything, once it is clear that the answer does not start with the model's own name. */
export function shownInChat(self: string): Shown {
  const name = `${self}:`;
  return (raw) => {
    const start = raw.trimStart();
    if (start.startsWith(name)) return start.slice(name.length).trimStart();
    return name.startsWith(start) ? '' : raw;
  };
}

/** In prefill mode: up to the last line that can no longer turn out to be another speaker's, a call or a result. */
export function shownInPrefill(reader: AnswerReader): Shown {
  return (raw) => {
    const lineStart = raw.lastIndexOf('\n') + 1;
    const decided = reader.isUndecided(raw.slice(lineStart).trimStart()) ? raw.slice(0, lineStart) : raw;
    return reader.read(decided, () => '').text;
  };
}

/** Passes the pieces of one answer on to whoever asked for them. */
export interface PieceStream {
  /** A new attempt begins: what came before does not count. */
  restart(): void;
  push(piece: string): void;
  /** Brings what has been passed on to exactly this text. */
  finish(text: string): void;
}

export function createPieceStream(onText: NonNullable<LlmRequest['onText']>, shown: () => Shown): PieceStream {
  let raw = '';
  let passed = '';
  let stale = false;
  const pass = (piece: string) => {
    onText(piece, stale);
    stale = false;
    passed += piece;
  };
  const restart = () => {
    stale ||= passed !== '';
    raw = '';
    passed = '';
  };
  return {
    restart,
    push(piece) {
      raw += piece;
      const text = shown()(raw);
      // White space at the end may turn out to be the end.
      const sure = text.slice(0, text.trimEnd().length);
      if (sure.length > passed.length && sure.startsWith(passed)) pass(sure.slice(passed.length));
    },
    finish(text) {
      if (!text.startsWith(passed)) restart();
      const rest = text.slice(passed.length);
      if (rest !== '' || stale) pass(rest);
    },
  };
}
