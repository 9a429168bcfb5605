import type { LlmCompletion, LlmRequest } from '@cinnabar/sdk';
import { createAnswerReader } from '../prefill/answer.js';
import { givenStops } from '../prefill/stops.js';
import type { Mode } from '../providers/provider.js';
import { surelyBeforeStop } from '../stop-sequences.js';
import { createPieceStream, type Shown, shownInChat, shownInPrefill } from './pieces.js';

/** Tells a caller of `onText` of an answer as it comes in, over all attempts and models. */
export interface Listener {
  /** An attempt begins. */
  begin(mode: Mode): void;
  push(piece: string): void;
  /** The answer is complete: what was told is made to be exactly its text. */
  finish(content: LlmCompletion['content']): void;
}

export function createListener(request: LlmRequest, onText: NonNullable<LlmRequest['onText']>): Listener {
  const inChat = untilStops(shownInChat(request.self), request.output === undefined ? request.stopSequences : []);
  let shown = inChat;
  const stream = createPieceStream(onText, () => shown);
  return {
    begin(mode) {
      shown =
        mode === 'prefill' ? untilStops(shownInPrefill(createAnswerReader(request)), givenStops(request)) : inChat;
      stream.restart();
    },
    push: stream.push,
    finish: (content) => stream.finish(content.map((block) => (block.type === 'text' ? block.text : '')).join('')),
  };
}

/** Providers take only so many stop sequences: what stands behind another one must not be seen before it is taken away. */
function untilStops(shown: Shown, stops: readonly string[] = []): Shown {
  return (raw) => shown(surelyBeforeStop(raw, stops));
}
