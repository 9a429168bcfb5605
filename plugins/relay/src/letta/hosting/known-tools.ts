import type { Clock, Logger } from '@cinnabar/sdk';
import type { Connect } from '../server/connect.js';
import { toolsAt } from './tools-at.js';

const FRESH_MS = 60_000;
/** As many agents as are remembered at once. */
const MOST = 1_000;

/** The names of the tools that agents really have. */
export interface KnownTools {
  of(agentId: string): Promise<ReadonlySet<string>>;
  /** They have changed. */
  forget(agentId: string): void;
}

export function createKnownTools(connect: Connect, clock: Clock, log: Logger): KnownTools {
  const known = new Map<string, { readonly at: number; readonly names: Promise<ReadonlySet<string>> }>();

  const ask = async (agentId: string): Promise<ReadonlySet<string>> => {
    try {
      const tools = await toolsAt(await connect(), agentId);
      return new Set(tools.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])));
    } catch (error) {
      // A prompt without hints is better than none. It is asked again for the next one.
      log.warn("the agent's tools are not known", { agentId, error });
      known.delete(agentId);
      return new Set();
    }
  };

  return {
    of(agentId) {
      const kept = known.get(agentId);
      if (kept !== undefined && clock.now() - kept.at < FRESH_MS) return kept.names;
      const [oldest] = known.keys();
      if (known.size >= MOST && oldest !== undefined) known.delete(oldest);
      const names = ask(agentId);
      known.set(agentId, { at: clock.now(), names });
      return names;
    },
    forget: (agentId) => void known.delete(agentId),
  };
}
