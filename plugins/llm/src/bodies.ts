import { type Clock, type Logger, type Redaction, requestBodyText } from '@cinnabar/sdk';
import type { Attempt, Provider, ProviderCall } from './providers/provider.js';

/** A request as it was sent, and what came back. */
export interface KeptBody {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly provider: string;
  readonly model: string;
  readonly body: string;
  /** `undefined` while nothing has come back. */
  answer: string | undefined;
}

/** Shows whole requests to models: in the log at trace, and, where the owner wants that, the last ones in memory. Secrets are taken out. */
export interface Bodies {
  /** A request is about to be sent. Call what it returns with what came back. Never throws. */
  sending(provider: Provider, call: ProviderCall, keep: boolean): Promise<(attempt: Attempt) => void>;
  /** The newest first. */
  readonly kept: readonly KeptBody[];
  clear(): void;
}

const MOST = 20;
const MOST_CHARACTERS = 1_000_000;

export function createBodies(clock: Clock, redaction: Redaction, log: Logger): Bodies {
  let kept: readonly KeptBody[] = [];
  const shown = (value: unknown) => {
    try {
      return redaction.text(requestBodyText(value)).slice(0, MOST_CHARACTERS);
    } catch (error) {
      log.warn('a body could not be shown', { error });
      return 'It could not be shown.';
    }
  };
  const rendered = async (provider: Provider, call: ProviderCall): Promise<unknown> => {
    try {
      return await provider.render(call);
    } catch (error) {
      log.warn('a request could not be rendered', { error });
      return 'It could not be rendered.';
    }
  };
  return {
    get kept() {
      return kept;
    },
    clear() {
      kept = [];
    },
    async sending(provider, call, keep) {
      if (!keep) kept = [];
      if (!keep && !log.traces) return () => undefined;
      const about = { provider: provider.name, model: call.model };
      const entry: KeptBody = {
        at: new Date(clock.now()).toISOString(),
        ...about,
        body: shown(await rendered(provider, call)),
        answer: undefined,
      };
      if (keep) kept = [entry, ...kept].slice(0, MOST);
      log.trace('request to a model', { ...about, body: entry.body });
      return (attempt) => {
        entry.answer = shown(attempt.ok ? attempt.reply : attempt.failure);
        log.trace('answer of a model', { ...about, body: entry.answer });
      };
    },
  };
}
