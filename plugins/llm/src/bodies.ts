import { type Clock, type Logger, type Redaction, requestBodyText } from '@cinnabar/sdk';
import type { Attempt, Provider, ProviderCall } from './providers/provider.js';

/** A request as it was sent, and the response. */
interface KeptBody {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly provider: string;
  readonly model: string;
  readonly body: string;
  /** `undefined` until there is a response. */
  answer: string | undefined;
}

/** Shows whole requests to models: in the log at level trace and, when the owner enables it, the last ones in memory. Secrets are removed. */
export interface Bodies {
  /** Starts the record of a request. Its attempts are recorded until the next `clear`, including pending ones. */
  begin(): RequestBodies;
  /** The recorded bodies, newest first. */
  readonly kept: readonly KeptBody[];
  clear(): void;
}

/** For one request, over all its attempts and models. */
export interface RequestBodies {
  /** Call it before an attempt is sent, and the returned function with the response. Never throws. */
  sending(provider: Provider, call: ProviderCall, keep: boolean): Promise<(attempt: Attempt) => void>;
}

const MOST = 20;
const MOST_CHARACTERS = 1_000_000;

export function createBodies(clock: Clock, redaction: Redaction, log: Logger): Bodies {
  let kept: readonly KeptBody[] = [];
  let generation = 0;
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
      generation += 1;
    },
    begin() {
      const begunIn = generation;
      return {
        async sending(provider, call, keep) {
          if (!keep) kept = [];
          if ((!keep && !log.traces) || generation !== begunIn) return () => undefined;
          const about = { provider: provider.name, model: call.model };
          const body = shown(await rendered(provider, call));
          if (generation !== begunIn) return () => undefined;
          const entry: KeptBody = { at: new Date(clock.now()).toISOString(), ...about, body, answer: undefined };
          if (keep) kept = [entry, ...kept].slice(0, MOST);
          log.trace('request to a model', { ...about, body });
          return (attempt) => {
            if (generation !== begunIn) return;
            entry.answer = shown(attempt.ok ? attempt.reply : attempt.failure);
            log.trace('answer of a model', { ...about, body: entry.answer });
          };
        },
      };
    },
  };
}
