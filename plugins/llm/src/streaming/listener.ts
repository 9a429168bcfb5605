import type { LlmCompletion, LlmRequest } from '@cinnabar/sdk';
import { createAnswerReader } from '../prefill/answer.js';
import type { Mode } from '../providers/provider.js';
import { createPieceStream, shownInChat, shownInPrefill } from './pieces.js';

/** Tells a caller of `onText` of an answer as it comes in, over all attempts and models. */
export interface Listener {
  /** An attempt begins. */
  begin(mode: Mode): void;
  push(piece: string): void;
  /** The answer is complete: what was told is made to be exactly its text. */
  finish(content: LlmCompletion['content']): void;
}

export function createListener(request: LlmRequest, onText: NonNullable<LlmRequest['onText']>): Listener {
  const inChat = shownInChat(request.self);
  let shown = inChat;
  const stream = createPieceStream(onText, () => shown);
  return {
    begin(mode) {
      shown = mode === 'prefill' ? shownInPrefill(createAnswerReader(request)) : inChat;
      stream.restart();
    },
    push: stream.push,
    finish: (content) => stream.finish(content.map((block) => (block.type === 'text' ? block.text : '')).join('')),
  };
}
