import type { Teller } from './events.js';

type Telling = Pick<Teller, 'started' | 'finished' | 'text' | 'system'>;

/** Keeps what is told until it is its turn: actions that run at the same time are told of one after another. */
export function createBuffered(teller: Telling): Telling & { flush(): void } {
  const waiting: (() => void)[] = [];
  return {
    started: (...told) => void waiting.push(() => teller.started(...told)),
    finished: (...told) => void waiting.push(() => teller.finished(...told)),
    text: (...told) => void waiting.push(() => teller.text(...told)),
    system: (...told) => void waiting.push(() => teller.system(...told)),
    flush() {
      for (const tell of waiting.splice(0)) tell();
    },
  };
}
