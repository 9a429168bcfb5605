import type { Logger } from '@cinnabar/sdk';

/** What a model refuses, each time: it is asked once. */
export type Refusal = 'temperature' | 'topP' | 'sampling' | 'prefill' | 'assistantImages' | 'forcedTool';

/** What has been found out about models by trying. */
export interface Learned {
  refuses(model: string, what: Refusal): boolean;
  /** @returns whether that is news */
  learn(model: string, what: Refusal): boolean;
  /** Tells of a prefill that became chat, once for each model and reason. */
  noteChat(log: Logger, model: string, reason: string): void;
}

/** @remarks models are named with their vendor: `anthropic:claude-sonnet-5` */
export function createLearned(): Learned {
  const known = new Set<string>();
  const isNews = (key: string) => {
    const size = known.size;
    known.add(key);
    return known.size > size;
  };
  return {
    refuses: (model, what) => known.has(`${what} ${model}`),
    learn: (model, what) => isNews(`${what} ${model}`),
    noteChat(log, model, reason) {
      if (isNews(`noted ${reason} ${model}`)) log.warn('prefill is not possible, chat is used', { reason });
    },
  };
}
