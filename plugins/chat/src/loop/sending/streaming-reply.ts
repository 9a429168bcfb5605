import { asUnfinishedPart, type Clock, type Logger, sleep, withoutNoticeMark } from '@cinnabar/sdk';
import type { Message } from 'discord.js';

import type { Manner, Voice } from './reply.js';

/** An answer that grows in Discord while the model writes. */
export interface LiveAnswer {
  /** For `LlmRequest.onText`. */
  onText(piece: string, restart: boolean): void;
  /** Whether anything of it can be seen. */
  readonly shown: boolean;
  /** Makes what is seen exactly `text`; nothing of it stays when that is empty. Resolves with the id of its last message. */
  finish(text: string, manner?: Manner): Promise<string | undefined>;
  /** Lets it stand as it is. */
  leave(): Promise<void>;
}

interface Shown {
  readonly message: Message;
  content: string;
}

const PACE_MS = 1_000;

export interface LiveOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when there is no time left to wait. */
  readonly signal: AbortSignal;
}

/** At most one message is sent or edited a second: what comes in between is shown with the next. */
export function createLiveAnswer(voice: Voice, { clock, log, signal }: LiveOptions): LiveAnswer {
  const shown: Shown[] = [];
  let written = '';
  let wanted: readonly string[] = [];
  let pumping: Promise<void> | undefined;
  let isOver = false;
  let lastAt = Number.NEGATIVE_INFINITY;

  const placeToMend = () => wanted.findIndex((content, index) => shown[index]?.content !== content);
  const isExact = () => placeToMend() < 0 && shown.length <= wanted.length;
  const step = async () => {
    const place = placeToMend();
    const content = wanted[place] ?? '';
    const there = shown[place];
    if (place < 0) {
      const extra = shown.pop();
      if (extra !== undefined) await voice.remove(extra.message);
    } else if (there === undefined) shown.push({ message: await voice.send(content), content });
    else {
      await voice.edit(there.message, content);
      there.content = content;
    }
  };
  const pump = async () => {
    while (!isExact()) {
      const waitMs = lastAt + PACE_MS - clock.now();
      // Also without a wait, what arrives at the same moment is sent together.
      await (waitMs > 0 ? sleep(clock, waitMs, signal) : undefined);
      lastAt = clock.now();
      await step();
    }
  };
  const run = () => {
    pumping ??= pump().finally(() => {
      pumping = undefined;
    });
    return pumping;
  };

  return {
    onText(piece, restart) {
      if (isOver) return;
      written = restart ? piece : written + piece;
      const text = written.trim();
      // An answer that starts over may begin with nothing: what is seen stays until there is something else to see.
      if (text === '') return;
      const parts = voice.messagesOf(text);
      // What becomes a file is sent when it is whole; until then its beginning stands.
      if (parts.some(({ files }) => files !== undefined)) return;
      // Other bots wait until it is whole.
      wanted = parts.map(({ content }, index) => (index === parts.length - 1 ? asUnfinishedPart(content) : content));
      // What could not be shown is shown in the end, or said to have failed then.
      run().catch((error: unknown) => log.warn('an answer could not be shown while it grew', { error }));
    },
    get shown() {
      return shown.length > 0 || pumping !== undefined;
    },
    async leave() {
      isOver = true;
      await pumping;
      wanted = wanted.map((content, index) => (index === wanted.length - 1 ? withoutNoticeMark(content) : content));
      await run();
    },
    async finish(text, manner) {
      isOver = true;
      await pumping?.catch(() => undefined);
      const parts = text === '' ? [] : voice.messagesOf(text, manner);
      if (parts.some(({ files }) => files !== undefined)) {
        // The file first: its beginning stays where it cannot be sent.
        const id = await voice.say(text, manner);
        wanted = [];
        await run().catch((error: unknown) => log.warn('the beginning of an answer could not be removed', { error }));
        return id;
      }
      wanted = parts.map(({ content }) => content);
      await run();
      return shown.at(-1)?.message.id;
    },
  };
}
