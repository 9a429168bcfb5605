import { type Clock, type Document, z } from '@cinnabar/sdk';
import type { GatewayStatus, ShardStatus } from '../gateway/status.js';
import { withinLimit } from '../plugins/time-limit.js';

/** Storage is tried at most this often, however often it is asked about. */
const PROBE_EVERY_MS = 10_000;
const PROBE_LIMIT_MS = 5_000;

export const probeSchema = z.object({ at: z.number() });

interface Parts {
  readonly phase: () => 'starting' | 'running' | 'stopping';
  readonly gateway: GatewayStatus;
  /** A document that may be written at any time. */
  readonly probe: () => Document<z.output<typeof probeSchema>>;
  readonly clock: Clock;
}

export interface Readiness {
  /** Why the bot cannot serve people at the moment; empty when it can. */
  reasons(): Promise<readonly string[]>;
}

export function createReadiness({ phase, gateway, probe, clock }: Parts): Readiness {
  let probedAt = Number.NEGATIVE_INFINITY;
  let result: Promise<readonly string[]> = Promise.resolve([]);

  const write = async (): Promise<readonly string[]> => {
    try {
      const { inTime } = await withinLimit(clock, PROBE_LIMIT_MS, probe().set({ at: clock.now() }));
      return inTime ? [] : [`storage: a write takes longer than ${PROBE_LIMIT_MS / 1000} s`];
    } catch (error) {
      return [`storage: writing failed (${codeOf(error)})`];
    }
  };
  const storage = () => {
    if (clock.now() - probedAt >= PROBE_EVERY_MS) {
      probedAt = clock.now();
      result = write();
    }
    return result;
  };

  return {
    async reasons() {
      const known = phase();
      if (known === 'stopping') return ['stopping'];
      return [
        ...(known === 'starting' ? ['starting: not logged in to Discord yet'] : []),
        ...gateway.shards.flatMap((shard) => (shard.state === 'ready' ? [] : [away(shard)])),
        ...(await storage()),
      ];
    },
  };
}

function away({ id, state, notReadySince, lastClose }: ShardStatus): string {
  const since = notReadySince === undefined ? '' : `, not ready since ${new Date(notReadySince).toISOString()}`;
  const why = lastClose === undefined ? '' : ` (last close: ${`${lastClose.code} ${lastClose.reason}`.trim()})`;
  return `gateway: shard ${id} is ${state}${since}${why}`;
}

/** The system's own code, such as `ENOSPC`, wherever it is among the causes. */
function codeOf(error: unknown): string {
  let code = 'the log has the reason';
  for (let one = error; one instanceof Error; one = one.cause) {
    if ('code' in one && typeof one.code === 'string') code = one.code;
  }
  return code;
}
