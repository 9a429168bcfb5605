import { type Registrar, TIERS, t, UserError, z } from '@cinnabar/sdk';
import type { Servers } from './servers.js';

export const SERVER_STATES = ['not started', 'starting', 'running', 'waiting', 'stopped'] as const;

const report = z.object({
  name: z.string(),
  /** The program, or the host of the address. */
  where: z.string(),
  tier: z.enum(TIERS),
  state: z.enum(SERVER_STATES),
  /** Why it is not running. */
  problem: z.string().exactOptional(),
  /** Milliseconds until the next start. */
  retryMs: z.number().exactOptional(),
  /** By the tool's name in the host. */
  tools: z.array(z.object({ name: z.string(), risk: z.string(), description: z.string() })),
  /** Tools that were changed or added after the owner accepted the server's tools. */
  pending: z.array(z.object({ name: z.string(), description: z.string() })),
});
export type ServerReport = z.output<typeof report>;

/** Longer than the time limit for a server's start. */
const RESTARTED_MS = 160_000;

/** The actions of the bot's owner on the servers. */
export interface ServerAdministration {
  /** Names of the configured servers. */
  readonly names: readonly string[];
  report(): Promise<readonly ServerReport[]>;
  /** Like `report`, once no start and no listing of tools is running. */
  settledReport(): Promise<readonly ServerReport[]>;
  /** @throws UserError when there is none with that name, or it does not start */
  restart(name: string): Promise<ServerReport>;
  /** Offers the changed and added tools. @throws UserError when there is none with that name */
  accept(name: string): Promise<ServerReport>;
}

/**
 * Administers the servers from any process: in a cluster, the process for data of no guild runs them.
 * @param servers `undefined` when none is configured
 */
export function createAdministration(
  question: Registrar['question'],
  servers: Servers | undefined,
): ServerAdministration {
  const configured = () => {
    if (servers === undefined) throw new UserError(t('No MCP server is configured.'));
    return servers;
  };
  const list = question({
    name: 'servers',
    input: z.object({ isSettled: z.boolean() }),
    answer: z.array(report),
    deadlineMs: RESTARTED_MS,
    async run({ isSettled }) {
      if (isSettled) await servers?.settled();
      return [...(servers?.report() ?? [])];
    },
  });
  const restarting = question({
    name: 'restart',
    input: z.object({ name: z.string() }),
    answer: report,
    deadlineMs: RESTARTED_MS,
    run: ({ name }) => configured().restart(name),
  });
  const accepting = question({
    name: 'accept',
    input: z.object({ name: z.string() }),
    answer: report,
    run: ({ name }) => configured().accept(name),
  });
  return {
    names: servers?.names ?? [],
    report: () => list.of(null, { isSettled: false }),
    settledReport: () => list.of(null, { isSettled: true }),
    restart: (name) => restarting.of(null, { name }),
    accept: (name) => accepting.of(null, { name }),
  };
}
