import type { CacheControl, ImageContent } from '@cinnabar/sdk';

/** A piece of what was said. `cache` marks where a provider may end a cached prefix. */
export type Part = TextPart | ImagePart;
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly cache?: CacheControl;
}
export interface ImagePart {
  readonly type: 'image';
  readonly source: ImageContent['source'];
  readonly cache?: CacheControl;
}

/** A call the model made. Ids are unique in the transcript and fit every provider. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}
export interface CallResult {
  readonly id: string;
  readonly parts: readonly Part[];
  readonly isError: boolean;
}

/** What people said between two turns of the model: one or more speakers, named in the text. */
export interface UserTurn {
  readonly role: 'user';
  readonly parts: readonly Part[];
}
/** What the model said, then what it called. At least one of the two. */
export interface AssistantTurn {
  readonly role: 'assistant';
  readonly texts: readonly TextPart[];
  readonly calls: readonly Call[];
  /** Behind the calls. */
  readonly cache: CacheControl | undefined;
}
/** Directly after the assistant turn that called: one result for each call, in the same order. */
export interface ResultsTurn {
  readonly role: 'results';
  readonly results: readonly CallResult[];
  readonly cache: CacheControl | undefined;
}
export type Turn = UserTurn | AssistantTurn | ResultsTurn;

/**
 * A conversation in chat mode, ready to be written in any provider's format. It starts and ends with people or results,
 * never has two assistant turns in a row, and every call has its result.
 */
export interface Transcript {
  readonly system: string;
  readonly turns: readonly Turn[];
}

/** The text of an assistant turn in one piece. */
export function wordsOf({ texts }: AssistantTurn): string {
  return texts.map(({ text }) => text).join('');
}

/** Parts with neighbouring texts in one piece: for providers that end no cached prefix within a message. */
export function joinTexts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === 'text' && last?.type === 'text') {
      joined[joined.length - 1] = { type: 'text', text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}
